/**
 * Signatures of releases: Ed25519 (RFC 8032) over slug, version and hash of the package, made where
 * the server has no access. Keys are 32 raw bytes in base64, as PHP's sodium functions take them.
 */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'

export interface SignedRelease {
  slug: string
  version: string
  sha256: string
}

/** SubjectPublicKeyInfo of an Ed25519 key without the key itself (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export function releaseMessage({ slug, version, sha256 }: SignedRelease): Buffer {
  return Buffer.from(`fb-release/1\n${slug}\n${version}\n${sha256}`)
}

export function signRelease(release: SignedRelease, privateKey: KeyObject): string {
  return sign(null, releaseMessage(release), privateKey).toString('base64')
}

/** Whether one of the keys made the signature. */
export function isSignedBy(
  publicKeys: readonly string[],
  release: SignedRelease,
  signature: string,
): boolean {
  const bytes = Buffer.from(signature, 'base64')
  if (bytes.length !== 64 || bytes.toString('base64') !== signature) return false
  return publicKeys.some((key) => verify(null, releaseMessage(release), keyOf(key), bytes))
}

export function newReleaseKey(): { privateKey: KeyObject; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKey: publicKeyText(publicKey) }
}

/** The public half of a private key, as settings and the plugin have it. */
export function publicKeyText(key: KeyObject): string {
  const half = key.type === 'private' ? createPublicKey(key) : key
  return half.export({ format: 'der', type: 'spki' }).subarray(SPKI.length).toString('base64')
}

function keyOf(publicKey: string): KeyObject {
  const der = Buffer.concat([SPKI, Buffer.from(publicKey, 'base64')])
  return createPublicKey({ key: der, format: 'der', type: 'spki' })
}
