/** Seals and opens texts and files in browsers and in Node, with WebCrypto only. */
import {
  type Bytes,
  concat,
  fromBase64,
  randomBytes,
  type RandomBytes,
  toBase64,
  toBase64url,
  toHex,
  utf8Bytes,
} from './bytes.ts'
import { type Content, contentBytes, isFile, parseContent } from './content.ts'
import { SealedError } from './errors.ts'
import { type Fragment, LINK_KEY_BYTES } from './fragment.ts'
import { sha256 } from './hash.ts'
import { deriveKeys, type SecretKeys } from './keys.ts'
import { pad, unpad } from './padding.ts'

/** What the server stores. It cannot open the secret with it. */
export interface SealedBody {
  /** Base64, with the tag at its end. */
  ciphertext: string
  /** Base64 of 12 bytes. */
  iv: string
  /** Base64 of 16 bytes; null without a passphrase. */
  salt: string | null
  passphraseProtected: boolean
  /** Base64url of 32 bytes, SHA-256 of `link`. */
  linkHash: string
  /** Base64url of 32 bytes, SHA-256 of `proof`. */
  proofHash: string
}

/** What a reader sends to the server: base64url of 32 bytes each. */
export interface RevealProof {
  link: string
  proof: string
}

export interface SealedContent {
  /** Only for the link; never send it to a server. */
  fragment: Fragment
  body: SealedBody
  /** The bytes of `body.ciphertext`, for the proof of work. */
  ciphertext: Bytes
}

/** Throws a `SealedError` for an invalid content or passphrase. */
export async function sealContent(
  options: { id: string; content: Content; passphrase?: string | undefined },
  random: RandomBytes = randomBytes,
): Promise<SealedContent> {
  const { id, content, passphrase } = options
  const bytes = contentBytes(content)
  const passphraseProtected = passphrase !== undefined
  const fragment = { passphraseProtected, isFile: isFile(content), linkKey: random(LINK_KEY_BYTES) }
  const keys = await deriveKeys(fragment, passphrase)
  const iv = random(12)
  const key = await aesKey(keys, 'encrypt')
  const encrypted = await crypto.subtle.encrypt(aesGcm(keys, id, iv), key, pad(bytes))
  const ciphertext = new Uint8Array(encrypted)
  return {
    fragment,
    ciphertext,
    body: {
      ciphertext: toBase64(ciphertext),
      iv: toBase64(iv),
      salt: keys.salt && toBase64(keys.salt),
      passphraseProtected,
      linkHash: toBase64url(await sha256(keys.link)),
      proofHash: toBase64url(await sha256(keys.proof)),
    },
  }
}

/** The content exactly as it was sealed, except for an unsafe name of a file. Throws `cannot_open` if anything was changed. */
export async function openContent(
  keys: SecretKeys,
  sealed: { id: string } & Pick<SealedBody, 'ciphertext' | 'iv'>,
): Promise<Content> {
  const iv = fromBase64(sealed.iv)
  const ciphertext = fromBase64(sealed.ciphertext)
  if (iv?.length !== 12 || !ciphertext) throw new SealedError('cannot_open')
  const key = await aesKey(keys, 'decrypt')
  const decrypted = await crypto.subtle
    .decrypt(aesGcm(keys, sealed.id, iv), key, ciphertext)
    // WebCrypto does not say why it failed.
    .catch(() => undefined)
  const bytes = decrypted && unpad(new Uint8Array(decrypted))
  const content = bytes && parseContent(bytes, keys.isFile)
  if (content === undefined) throw new SealedError('cannot_open')
  return content
}

export function revealProof(keys: Pick<SecretKeys, 'link' | 'proof'>): RevealProof {
  return { link: toBase64url(keys.link), proof: toBase64url(keys.proof) }
}

/** Identifies a reader. Create it before the first request, and reuse it when a response was lost. */
export function newClaim(random: RandomBytes = randomBytes): string {
  return toHex(random(16))
}

function aesKey({ enc }: SecretKeys, use: 'encrypt' | 'decrypt') {
  return crypto.subtle.importKey('raw', enc, 'AES-GCM', false, [use])
}

function aesGcm({ header }: SecretKeys, id: string, iv: Bytes) {
  const additionalData = concat(utf8Bytes('sealed/1'), header, utf8Bytes(id))
  return { name: 'AES-GCM', iv, additionalData }
}
