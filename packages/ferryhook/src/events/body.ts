/** How a body is stored: as it is, or compressed if it is large. */
import { promisify } from 'node:util'
import { constants, gunzip, gzip } from 'node:zlib'
import { MAX_BODY_BYTES } from './values.ts'

export interface StoredBody {
  body: Uint8Array
  encoding: 'identity' | 'gzip'
}

/** Compressing a small body costs more than it saves. */
const MAX_PLAIN_BYTES = 4_096

/** The body as it is stored if it is small; undefined if `packBody` has to compress it. */
export function smallBody(body: Uint8Array): StoredBody | undefined {
  if (body.byteLength > MAX_PLAIN_BYTES) return undefined
  return { body: plainBytes(body), encoding: 'identity' }
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
