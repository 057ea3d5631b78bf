/**
 * The bytes of an answer: JSON, compressed for clients that ask for it, with the checksum of what goes
 * over the wire. AWS's SDKs compare it before they decompress.
 */
import { promisify } from 'node:util'
import { constants, crc32, gzip } from 'node:zlib'

const compress = promisify(gzip)
/** Smaller answers fit in one packet anyway. */
const WORTHWHILE_BYTES = 1024
/** Up to this length, one write of head and body together costs less than encoding the body once. */
const MOST_TEXT = 4096

interface EncodedAnswer {
  /** A short text is not encoded here: Node writes it together with the head. */
  content: string | Buffer
  /** Names and values in turn, as they go over the wire. */
  headers: string[]
}

/** At once for most clients, which ask for no compression. */
export function encodedAnswer(
  text: string | Buffer,
  acceptEncoding: string | undefined,
): EncodedAnswer | Promise<EncodedAnswer> {
  if (acceptEncoding !== undefined && text.length >= WORTHWHILE_BYTES) {
    if (acceptsGzip(acceptEncoding)) return compressed(text)
  }
  if (typeof text === 'string' && text.length <= MOST_TEXT) {
    return { content: text, headers: headersOf(Buffer.byteLength(text), crc32(text)) }
  }
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  return { content: bytes, headers: headersOf(bytes.length, crc32(bytes)) }
}

async function compressed(text: string | Buffer): Promise<EncodedAnswer> {
  const content = await compress(text, { level: constants.Z_BEST_SPEED })
  const headers = headersOf(content.length, crc32(content))
  return { content, headers: [...headers, 'content-encoding', 'gzip'] }
}

function headersOf(length: number, checksum: number): string[] {
  return ['content-length', `${length}`, 'x-amz-crc32', `${checksum}`]
}

/** `gzip`, `gzip;q=0.5` or `deflate, gzip`, but not `gzip;q=0`. */
function acceptsGzip(header: string): boolean {
  return header.split(',').some((choice) => {
    const [coding = '', ...parameters] = choice.split(';').map((part) => part.trim().toLowerCase())
    return coding === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}
