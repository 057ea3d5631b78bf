/** Seals and opens texts in browsers and in Node, with WebCrypto only. */
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
import { SealedError } from './errors.ts'
import { type Fragment, LINK_KEY_BYTES } from './fragment.ts'
import { deriveKeys, type SecretKeys, sha256 } from './keys.ts'
import { MAX_TEXT_BYTES, pad, unpad } from './padding.ts'

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

export interface SealedText {
  /** Only for the link; never send it to a server. */
  fragment: Fragment
  body: SealedBody
  /** The bytes of `body.ciphertext`, for the proof of work. */
  ciphertext: Bytes
}

/** Throws a `SealedError` for an invalid text or passphrase. */
export async function sealText(
  options: { id: string; text: string; passphrase?: string | undefined },
  random: RandomBytes = randomBytes,
): Promise<SealedText> {
  const { id, text, passphrase } = options
  const bytes = textBytes(text)
  const passphraseProtected = passphrase !== undefined
  const fragment = { passphraseProtected, linkKey: random(LINK_KEY_BYTES) }
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

/** The text exactly as it was sealed. Throws `cannot_open` if anything was changed. */
export async function openText(
  keys: SecretKeys,
  sealed: { id: string } & Pick<SealedBody, 'ciphertext' | 'iv'>,
): Promise<string> {
  const iv = fromBase64(sealed.iv)
  const ciphertext = fromBase64(sealed.ciphertext)
  if (iv?.length !== 12 || !ciphertext) throw new SealedError('cannot_open')
  const key = await aesKey(keys, 'decrypt')
  const decrypted = await crypto.subtle
    .decrypt(aesGcm(keys, sealed.id, iv), key, ciphertext)
    // WebCrypto does not say why it failed.
    .catch(() => undefined)
  const bytes = decrypted && unpad(new Uint8Array(decrypted))
  const text = bytes && decodeText(bytes)
  if (text === undefined) throw new SealedError('cannot_open')
  return text
}

/** Undefined for invalid UTF-8, which another program might have sealed. */
function decodeText(bytes: Bytes): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

export function revealProof(keys: SecretKeys): RevealProof {
  return { link: toBase64url(keys.link), proof: toBase64url(keys.proof) }
}

/** Identifies a reader. Create it before the first request, and reuse it when a response was lost. */
export function newClaim(random: RandomBytes = randomBytes): string {
  return toHex(random(16))
}

/** The UTF-8 of a text. Throws a `SealedError` if it cannot be sealed. */
export function textBytes(text: string): Bytes {
  if (text === '') throw new SealedError('text_empty')
  // UTF-8 cannot encode a lone surrogate and would replace it.
  if (/\p{Surrogate}/u.test(text)) throw new SealedError('text_malformed')
  const bytes = utf8Bytes(text)
  if (bytes.length > MAX_TEXT_BYTES) throw new SealedError('text_too_long')
  return bytes
}

function aesKey({ enc }: SecretKeys, use: 'encrypt' | 'decrypt') {
  return crypto.subtle.importKey('raw', enc, 'AES-GCM', false, [use])
}

function aesGcm({ header }: SecretKeys, id: string, iv: Bytes) {
  const additionalData = concat(utf8Bytes('sealed/1'), header, utf8Bytes(id))
  return { name: 'AES-GCM', iv, additionalData }
}
