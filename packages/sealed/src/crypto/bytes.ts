/** Bytes as text, in browsers and in Node. */

/** Bytes with their own buffer, as WebCrypto requires. */
export type Bytes = Uint8Array<ArrayBuffer>

/** Tests pass their own. */
export type RandomBytes = (size: number) => Bytes

export const randomBytes: RandomBytes = (size) => crypto.getRandomValues(new Uint8Array(size))

const utf8 = new TextEncoder()

export function utf8Bytes(text: string): Bytes {
  return utf8.encode(text)
}

export function concat(...parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  // In chunks, because every byte becomes an argument and the number of arguments is limited.
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  }
  return btoa(text)
}

export function toBase64url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Undefined for anything but canonical base64. */
export function fromBase64(text: string): Bytes | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return undefined
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  return toBase64(bytes) === text ? bytes : undefined
}

/** Undefined for anything but canonical base64url: no padding, unused bits zero. */
export function fromBase64url(text: string): Bytes | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined
  const padded = text.padEnd(Math.ceil(text.length / 4) * 4, '=')
  return fromBase64(padded.replaceAll('-', '+').replaceAll('_', '/'))
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
