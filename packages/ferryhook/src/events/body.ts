/**
 * How a body is stored: short text in the event, so that lists contain it; anything else in its own
 * item, so that a status update does not rewrite 256 KB.
 */
import { promisify } from 'node:util'
import { constants, gunzip, gzip } from 'node:zlib'
import { MAX_INLINE_BODY_BYTES } from './item.ts'
import { MAX_BODY_BYTES } from './values.ts'

export interface StoredBody {
  body: Uint8Array
  encoding: 'identity' | 'gzip'
}

// A byte order mark is part of the body.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The body as text, if it is short and valid UTF-8. */
export function inlineBody(body: Uint8Array): string | undefined {
  if (body.byteLength > MAX_INLINE_BODY_BYTES) return undefined
  try {
    return decoder.decode(body)
  } catch {
    return undefined
  }
}

export async function packBody(body: Uint8Array): Promise<StoredBody> {
  const packed = await promisify(gzip)(body, { level: constants.Z_BEST_SPEED })
  if (packed.byteLength < body.byteLength) return { body: plainBytes(packed), encoding: 'gzip' }
  return { body: plainBytes(body), encoding: 'identity' }
}

export async function unpackBody({ body, encoding }: StoredBody): Promise<Uint8Array> {
  if (encoding === 'identity') return body
  return plainBytes(await promisify(gunzip)(body, { maxOutputLength: MAX_BODY_BYTES }))
}

/** Not a Buffer, so that every store returns the type that was written. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
