/** Reads the body of a request within the limit of what any operation can need. */
import type { IncomingMessage } from 'node:http'
import { KmsError } from './errors.ts'

/** Ten grant tokens of 8192 characters, a blob, a plaintext, and room for contexts. */
const MOST_BYTES = 256 * 1024

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MOST_BYTES) {
      throw new KmsError('RequestEntityTooLargeException', 'The request is too large', 413)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * Takes the rest of a refused body off the wire, so that the client gets to read the answer; a
 * connection closed on unread bytes is reset. There is an end to that patience, too.
 */
export function discardBody(request: IncomingMessage): void {
  let left = 16 * MOST_BYTES
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) request.destroy()
  })
  request.resume()
}
