/** Signatures as bytes: a text is never compared, because texts of equal length can differ in bytes. */
import { createHmac, timingSafeEqual } from 'node:crypto'

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

export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.byteLength === other.byteLength && timingSafeEqual(one, other)
}

export function anyMatch(claimed: readonly Uint8Array[], expected: readonly Uint8Array[]): boolean {
  return expected.some((right) => claimed.some((sent) => sameBytes(sent, right)))
}

/** The bytes that a text stands for; undefined if it is not of that encoding, or empty. */
export function decode(encoding: Encoding, text: string): Buffer | undefined {
  return (encoding === 'hex' ? isHex(text) : isBase64(text))
    ? Buffer.from(text, encoding)
    : undefined
}

/** The signatures among texts that can be read; undefined if none can. */
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
