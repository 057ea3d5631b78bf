/**
 * The bytes of an answer: JSON, compressed for clients that ask for it, with the checksum of what goes
 * over the wire. AWS's SDKs compare it before they decompress.
 */
import { promisify } from 'node:util'
import { constants, crc32, gzip } from 'node:zlib'

const compress = promisify(gzip)
/** Smaller answers fit in one packet anyway. */
const WORTHWHILE_BYTES = 1024

export async function encodedAnswer(
  body: object,
  acceptEncoding: string | undefined,
): Promise<{ bytes: Buffer; headers: Record<string, string | number> }> {
  const text = Buffer.from(JSON.stringify(body))
  const compressed = text.length >= WORTHWHILE_BYTES && acceptsGzip(acceptEncoding)
  const bytes = compressed ? await compress(text, { level: constants.Z_BEST_SPEED }) : text
  return {
    bytes,
    headers: {
      'content-length': bytes.length,
      'x-amz-crc32': `${crc32(bytes)}`,
      ...(compressed && { 'content-encoding': 'gzip' }),
    },
  }
}

/** `gzip`, `gzip;q=0.5` or `deflate, gzip`, but not `gzip;q=0`. */
function acceptsGzip(header: string | undefined): boolean {
  return (header ?? '').split(',').some((choice) => {
    const [coding = '', ...parameters] = choice.split(';').map((part) => part.trim().toLowerCase())
    return coding === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}
