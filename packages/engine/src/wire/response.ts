/**
 * The bytes of a response: JSON, compressed for clients that ask for it, with the checksum of what goes
 * over the wire. AWS's SDKs compare it before they decompress.
 */
import { promisify } from 'node:util'
import { constants, crc32, gzip } from 'node:zlib'
import { acceptsGzip } from '@strongroom/platform/accepts-gzip'

const compress = promisify(gzip)
/** Smaller responses fit in one packet anyway. */
const MIN_COMPRESSED_BYTES = 1024
/** Up to this length, one write of head and body together costs less than encoding the body once. */
const MAX_UNENCODED_LENGTH = 4096

interface EncodedResponse {
  /** A short text is not encoded here: Node writes it together with the head. */
  content: string | Buffer
  /** Names and values in turn, as they go over the wire. */
  headers: string[]
}

/** Synchronous for most clients, which do not ask for compression. */
export function encodeResponse(
  text: string | Buffer,
  acceptEncoding: string | undefined,
): EncodedResponse | Promise<EncodedResponse> {
  if (acceptEncoding !== undefined && text.length >= MIN_COMPRESSED_BYTES) {
    if (acceptsGzip(acceptEncoding)) return compressed(text)
  }
  if (typeof text === 'string' && text.length <= MAX_UNENCODED_LENGTH) {
    return { content: text, headers: headersOf(Buffer.byteLength(text), crc32(text)) }
  }
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  return { content: bytes, headers: headersOf(bytes.length, crc32(bytes)) }
}

async function compressed(text: string | Buffer): Promise<EncodedResponse> {
  const content = await compress(text, { level: constants.Z_BEST_SPEED })
  const headers = headersOf(content.length, crc32(content))
  return { content, headers: [...headers, 'content-encoding', 'gzip'] }
}

function headersOf(length: number, checksum: number): string[] {
  return ['content-length', `${length}`, 'x-amz-crc32', `${checksum}`]
}
