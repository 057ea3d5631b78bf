/** SHA-256 and HKDF-SHA-256 with an empty salt, of WebCrypto. */
import { type Bytes, utf8Bytes } from './bytes.ts'

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

export async function hkdf(ikm: Bytes, info: string | Bytes, size: number): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', ikm, 'HKDF', false, ['deriveBits'])
  const infoBytes = typeof info === 'string' ? utf8Bytes(info) : info
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: infoBytes }
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, size * 8))
}
