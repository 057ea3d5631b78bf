/** Reads a response body up to a limit; a body that ends badly does not unmake the response. */
import type { Readable } from 'node:stream'
import { SafeFetchError, toSafeFetchError, type SafeFetchReason } from './error.ts'

export interface ReadBody {
  body: Uint8Array
  /** Whether the body is only the beginning of what the server had to say. */
  truncated: boolean
  /** `too_large`, `timeout` or `connection`, where it is truncated. */
  truncatedBy: SafeFetchReason | null
}

/** Throws only for the caller's own cancellation. Leaving the loop early closes the connection. */
export async function readBody(stream: Readable, maxBytes: number): Promise<ReadBody> {
  const chunks: Uint8Array[] = []
  let size = 0
  let truncatedBy: SafeFetchReason | null = null
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      const kept = chunk.subarray(0, maxBytes - size)
      chunks.push(kept)
      size += kept.byteLength
      if (kept.byteLength < chunk.byteLength) {
        truncatedBy = 'too_large'
        break
      }
    }
  } catch (error) {
    const failure = toSafeFetchError(error)
    if (!(failure instanceof SafeFetchError) || failure.reason === 'aborted') throw failure
    truncatedBy = failure.reason
  }
  return {
    body: new Uint8Array(Buffer.concat(chunks)),
    truncated: truncatedBy !== null,
    truncatedBy,
  }
}

/** Closes the connection instead of reading what nobody wants. */
export function discard(stream: Readable): void {
  stream.on('error', () => {}).destroy()
}
