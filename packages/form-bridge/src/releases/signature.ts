/**
 * Signatures of releases: Ed25519 (RFC 8032) over slug, version and hash of the package. The server
 * has only the public keys: 32 raw bytes in base64, as PHP's sodium functions expect them.
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

/** The SubjectPublicKeyInfo of an Ed25519 key up to the key itself (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

export function packageHash(zip: Uint8Array): string {
  return createHash('sha256').update(zip).digest('hex')
}

export function releaseMessage({ slug, version, sha256 }: SignedRelease): Buffer {
  return Buffer.from(`fb-release/1\n${slug}\n${version}\n${sha256}`)
}

export function signRelease(release: SignedRelease, privateKey: KeyObject): string {
  return sign(null, releaseMessage(release), privateKey).toString('base64')
}

/** Whether the signature belongs to one of the keys. */
export function isSignedBy(
  publicKeys: readonly string[],
  release: SignedRelease,
  signature: string,
): boolean {
  const bytes = Buffer.from(signature, 'base64')
  if (bytes.length !== 64 || bytes.toString('base64') !== signature) return false
  return publicKeys.some((key) => verify(null, releaseMessage(release), parsePublicKey(key), bytes))
}

export function createReleaseKey(): { privateKey: KeyObject; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKey: formatPublicKey(publicKey) }
}

/** The public key in the format of the settings and the plugin; also of a private key. */
export function formatPublicKey(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key
  const der = publicKey.export({ format: 'der', type: 'spki' })
  return der.subarray(SPKI_PREFIX.length).toString('base64')
}

function parsePublicKey(publicKey: string): KeyObject {
  const der = Buffer.concat([SPKI_PREFIX, Buffer.from(publicKey, 'base64')])
  return createPublicKey({ key: der, format: 'der', type: 'spki' })
}
