/**
 * Where a body is kept: short text in the event, so that lists show it; anything else in an item of
 * its own, so that a change of status does not write 256 KB again.
 */
import { promisify } from 'node:util'
import { constants, gunzip, gzip } from 'node:zlib'
import { longestBody, longestInlineBody } from '../items/event.ts'

export interface StoredBody {
  body: Uint8Array
  encoding: 'identity' | 'gzip'
}

// A byte order mark is part of the body.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The body as text, if it is short and exactly what its bytes say. */
export function inlineBody(body: Uint8Array): string | undefined {
  if (body.byteLength > longestInlineBody) return undefined
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
  return plainBytes(await promisify(gunzip)(body, { maxOutputLength: longestBody }))
}

/** Not a Buffer: what is read back should be what was given, on every store. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
