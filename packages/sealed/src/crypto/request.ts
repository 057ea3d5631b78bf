/**
 * Requests: the requester has a key pair, and anyone with the public key seals a secret that only the
 * private key opens. Format version 2.
 */
import { type Bytes, concat, fromBase64, randomBytes, toBase64, toHex, utf8Bytes } from './bytes.ts'
import { type Content, contentBytes, isFile, parseContent } from './content.ts'
import { SealedError } from './errors.ts'
import { hkdf, sha256 } from './hash.ts'
import { formatTarget, type RequestTarget } from './link.ts'
import {
  type EphemeralPair,
  exportPoint,
  generateEphemeralPair,
  generateKeyPair,
  importPrivateKey,
  isPoint,
  sharedSecret,
} from './p256.ts'
import { pad, unpadWithFlags } from './padding.ts'
import { type OwnFragment, type RequestFragment, requestHeader } from './request-fragment.ts'
import type { SealedBody } from './seal.ts'

const POINT_BYTES = 65
const FILE = 2
const FINGERPRINT_BYTES = 10

/** What the requester derives from the own link. */
export interface OwnKeys extends OwnFragment {
  /** Both prove to the server that the reader has the own link. */
  link: Bytes
  proof: Bytes
}

export async function newOwnFragment(): Promise<OwnFragment> {
  return { acceptsFiles: true, ...(await generateKeyPair()) }
}

export async function deriveOwnKeys(fragment: OwnFragment): Promise<OwnKeys> {
  // With the public key, so that a damaged link proves nothing and uses no view.
  const ikm = concat(fragment.privateKey, fragment.publicKey)
  return {
    ...fragment,
    link: await hkdf(ikm, 'sealed/2/link', 32),
    proof: await hkdf(ikm, 'sealed/2/proof', 32),
  }
}

export type RequestedBody = Pick<SealedBody, 'ciphertext' | 'iv'>

/** Throws a `SealedError` for an invalid content. Tests pass a pair of their own. */
export async function sealForRequest(
  { id, fragment, content }: { id: string; fragment: RequestFragment; content: Content },
  given: { pair?: EphemeralPair; iv?: Bytes } = {},
): Promise<{ body: RequestedBody; ciphertext: Bytes }> {
  if (isFile(content) && !fragment.acceptsFiles) throw new SealedError('file_not_accepted')
  const padded = pad(contentBytes(content), isFile(content) ? FILE : 0)
  const pair = given.pair ?? (await generateEphemeralPair())
  const iv = given.iv ?? randomBytes(12)
  const ephemeral = await exportPoint(pair.publicKey)
  const shared = await sharedSecret(pair.privateKey, fragment.publicKey)
  const key = await aesKey({ shared, ephemeral, fragment }, 'encrypt')
  const encrypted = await crypto.subtle.encrypt(aesGcm(fragment, id, iv), key, padded)
  const ciphertext = concat(ephemeral, new Uint8Array(encrypted))
  return { body: { ciphertext: toBase64(ciphertext), iv: toBase64(iv) }, ciphertext }
}

/** Throws `cannot_open` if anything was changed or is of another kind than the link allows. */
export async function openRequested(
  keys: OwnFragment,
  sealed: { id: string } & RequestedBody,
): Promise<Content> {
  const content = await decrypt(keys, sealed)
  if (content === undefined) throw new SealedError('cannot_open')
  return content
}

async function decrypt(
  keys: OwnFragment,
  sealed: { id: string } & RequestedBody,
): Promise<Content | undefined> {
  const iv = fromBase64(sealed.iv)
  const bytes = fromBase64(sealed.ciphertext)
  const ephemeral = bytes?.slice(0, POINT_BYTES)
  if (iv?.length !== 12 || !bytes || !ephemeral || !isPoint(ephemeral)) return undefined
  const decrypted = await importPrivateKey(keys)
    .then(async (privateKey) => {
      const shared = await sharedSecret(privateKey, ephemeral)
      const key = await aesKey({ shared, ephemeral, fragment: keys }, 'decrypt')
      return crypto.subtle.decrypt(aesGcm(keys, sealed.id, iv), key, bytes.slice(POINT_BYTES))
    })
    // WebCrypto does not say why it failed.
    .catch(() => undefined)
  const padded = decrypted && unpadWithFlags(new Uint8Array(decrypted))
  if (!padded || (padded.flags & ~(keys.acceptsFiles ? FILE : 0)) !== 0) return undefined
  return parseContent(padded.content, padded.flags === FILE)
}

/** For both sides to compare: five groups of four digits that cover the whole request link. */
export async function fingerprint(request: RequestTarget): Promise<string> {
  const text = utf8Bytes(`sealed/2/fingerprint${formatTarget(request)}`)
  const digits = toHex((await sha256(text)).slice(0, FINGERPRINT_BYTES))
  return (digits.match(/.{4}/g) ?? []).join(' ')
}

async function aesKey(
  { shared, ephemeral, fragment }: { shared: Bytes; ephemeral: Bytes; fragment: RequestFragment },
  use: 'encrypt' | 'decrypt',
) {
  const info = concat(utf8Bytes('sealed/2/enc'), ephemeral, fragment.publicKey)
  const enc = await hkdf(shared, info, 32)
  return crypto.subtle.importKey('raw', enc, 'AES-GCM', false, [use])
}

function aesGcm(fragment: RequestFragment, id: string, iv: Bytes) {
  const additionalData = concat(utf8Bytes('sealed/2'), requestHeader(fragment), utf8Bytes(id))
  return { name: 'AES-GCM', iv, additionalData }
}
