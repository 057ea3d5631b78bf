/** Digests and keys. Signatures are compared as bytes, because texts of equal length may differ in bytes. */
import { createHmac, createPublicKey, type KeyObject } from 'node:crypto'
import { timingSafeEquals } from '@strongroom/kit/timing-safe-equals'

export type Hash = 'sha1' | 'sha256' | 'sha512'
export type Encoding = 'hex' | 'base64'

export function hmac(
  hash: Hash,
  key: string | Uint8Array,
  ...parts: readonly (string | Uint8Array)[]
): Buffer {
  const digest = createHmac(hash, key)
  for (const part of parts) digest.update(part)
  return digest.digest()
}

export function hasMatch(claimed: readonly Uint8Array[], expected: readonly Uint8Array[]): boolean {
  return expected.some((right) => claimed.some((sent) => timingSafeEquals(sent, right)))
}

/** Undefined if the text is empty or not in that encoding. */
export function decode(encoding: Encoding, text: string): Buffer | undefined {
  return (encoding === 'hex' ? isHex(text) : isBase64(text))
    ? Buffer.from(text, encoding)
    : undefined
}

/** All texts that can be decoded; undefined if there are none. */
export function decodeAny(encoding: Encoding, texts: readonly string[]): Buffer[] | undefined {
  const decoded = texts.map((text) => decode(encoding, text)).filter((bytes) => bytes !== undefined)
  return decoded.length === 0 ? undefined : decoded
}

function isHex(text: string): boolean {
  return text.length % 2 === 0 && /^[0-9a-f]+$/i.test(text)
}

/** With or without padding, in either alphabet. */
function isBase64(text: string): boolean {
  const digits = /^([A-Za-z0-9+/_-]+)={0,2}$/.exec(text)?.[1]
  return digits !== undefined && digits.length % 4 !== 1
}

/** A public key from its 32 bytes. */
export function ed25519Key(bytes: Buffer): KeyObject | undefined {
  if (bytes.byteLength !== 32) return undefined
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }
  return readable(() => createPublicKey({ key: jwk, format: 'jwk' }))
}

/** A P-256 public key as PEM, or as the base64 inside it. */
export function p256Key(text: string): KeyObject | undefined {
  const key = readable(() =>
    text.startsWith('-----BEGIN PUBLIC KEY-----')
      ? createPublicKey({ key: text, format: 'pem' })
      : createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' }),
  )
  return key?.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined
}

/** OpenSSL throws if it cannot read a key. */
function readable(read: () => KeyObject): KeyObject | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
