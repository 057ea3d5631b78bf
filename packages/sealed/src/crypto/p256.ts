/**
 * ECDH on P-256 with WebCrypto. Points are 65 bytes: 0x04, x and y, big-endian. They are checked here
 * as well, because not every implementation of WebCrypto refuses a point that is not on the curve.
 */
import { type Bytes, concat, fromBase64url, toBase64url } from './bytes.ts'

export const COORDINATE_BYTES = 32
const POINT_BYTES = 1 + 2 * COORDINATE_BYTES
const UNCOMPRESSED = 4
const ALGORITHM = { name: 'ECDH', namedCurve: 'P-256' } as const

/** The curve is y² = x³ − 3x + b modulo p. */
const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn

/** A key of WebCrypto, whose type browsers and Node name differently. */
type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

/** A pair for one message. */
export interface EphemeralPair {
  privateKey: CryptoKey
  publicKey: CryptoKey
}

export interface KeyPair {
  /** The scalar, 32 bytes. */
  privateKey: Bytes
  /** The point, 65 bytes. */
  publicKey: Bytes
}

/** Points are public, so that the time this takes reveals nothing. */
export function isPoint(bytes: Bytes): boolean {
  if (bytes.length !== POINT_BYTES || bytes[0] !== UNCOMPRESSED) return false
  const x = toInteger(bytes.subarray(1, 1 + COORDINATE_BYTES))
  const y = toInteger(bytes.subarray(1 + COORDINATE_BYTES))
  return x < P && y < P && (y * y - (x * x * x - 3n * x + B)) % P === 0n
}

/** A point of its coordinates, 64 bytes. */
export function pointOf(coordinates: Bytes): Bytes {
  return concat(Uint8Array.of(UNCOMPRESSED), coordinates)
}

export function coordinatesOf(point: Bytes): Bytes {
  return point.slice(1)
}

/** A pair whose private key goes into a link. */
export async function generateKeyPair(): Promise<KeyPair> {
  for (;;) {
    const pair = await crypto.subtle.generateKey(ALGORITHM, true, ['deriveBits'])
    const { d = '', x = '', y = '' } = await crypto.subtle.exportKey('jwk', pair.privateKey)
    const [privateKey, ...coordinates] = [d, x, y].map(fromBase64url)
    const publicKey = pointOf(concat(...coordinates.map((part) => part ?? new Uint8Array())))
    // Some implementations drop leading zeros.
    if (privateKey?.length === COORDINATE_BYTES && isPoint(publicKey)) {
      return { privateKey, publicKey }
    }
  }
}

export async function generateEphemeralPair(): Promise<EphemeralPair> {
  return crypto.subtle.generateKey(ALGORITHM, false, ['deriveBits'])
}

export async function exportPoint(publicKey: CryptoKey): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.exportKey('raw', publicKey))
}

/** As JWK, the only format for private keys that every browser imports. */
export function importPrivateKey({ privateKey, publicKey }: KeyPair): Promise<CryptoKey> {
  const key = {
    kty: 'EC',
    crv: ALGORITHM.namedCurve,
    d: toBase64url(privateKey),
    x: toBase64url(publicKey.subarray(1, 1 + COORDINATE_BYTES)),
    y: toBase64url(publicKey.subarray(1 + COORDINATE_BYTES)),
  }
  return crypto.subtle.importKey('jwk', key, ALGORITHM, false, ['deriveBits'])
}

/** The x-coordinate of the shared point. Check `point` with `isPoint` before. */
export async function sharedSecret(privateKey: CryptoKey, point: Bytes): Promise<Bytes> {
  const publicKey = await crypto.subtle.importKey('raw', point, ALGORITHM, false, [])
  const algorithm = { name: ALGORITHM.name, public: publicKey }
  const bits = await crypto.subtle.deriveBits(algorithm, privateKey, 8 * COORDINATE_BYTES)
  return new Uint8Array(bits)
}

function toInteger(bytes: Bytes): bigint {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return value
}
