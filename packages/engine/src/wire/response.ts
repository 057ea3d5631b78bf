/**
 * The bytes of a response: JSON, compressed for clients that accept it, with the checksum of the sent
 * bytes, which AWS's SDKs verify before they decompress.
 */
import { promisify } from 'node:util'
import { constants, crc32, gzip } from 'node:zlib'
import { acceptsGzip } from '@strongroom/platform/accepts-gzip'

const compress = promisify(gzip)
/** Smaller responses fit in one packet. */
const MIN_COMPRESSED_BYTES = 1024
/** Up to this length, writing head and body as one text costs less than encoding the body first. */
const MAX_UNENCODED_LENGTH = 4096

interface EncodedResponse {
  /** A short text is not encoded here: Node writes it together with the head. */
  content: string | Buffer
  /** Names and values alternate, as in Node's raw headers. */
  headers: string[]
}

/** Synchronous for clients that do not ask for compression, which are most. */
export function encodeResponse(
  text: string | Buffer,
  acceptEncoding: string | undefined,
): EncodedResponse | Promise<EncodedResponse> {
  if (acceptEncoding !== undefined && text.length >= MIN_COMPRESSED_BYTES) {
    if (acceptsGzip(acceptEncoding)) return compressResponse(text)
  }
  if (typeof text === 'string' && text.length <= MAX_UNENCODED_LENGTH) {
    return { content: text, headers: headersOf(Buffer.byteLength(text), crc32(text)) }
  }
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  return { content: bytes, headers: headersOf(bytes.length, crc32(bytes)) }
}

async function compressResponse(text: string | Buffer): Promise<EncodedResponse> {
  const content = await compress(text, { level: constants.Z_BEST_SPEED })
  const headers = headersOf(content.length, crc32(content))
  return { content, headers: [...headers, 'content-encoding', 'gzip'] }
}

function headersOf(length: number, checksum: number): string[] {
  return ['content-length', `${length}`, 'x-amz-crc32', `${checksum}`]
}
