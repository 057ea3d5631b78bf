/** The body of a request to Node's server, up to its limit. */
import type { IncomingMessage } from 'node:http'
import { requestError } from './errors.ts'

/** How long the rest of a body that nobody wants may still come, so that the answer is read first. */
const REST_MS = 500

export function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const declared = headerIn(request.rawHeaders, 'content-length')
    if (declared !== undefined && Number(declared) > maxBytes) return reject(tooLarge(maxBytes))
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.byteLength
      if (size <= maxBytes) chunks.push(chunk)
      else reject(tooLarge(maxBytes))
    })
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    request.on('error', reject)
    request.on('close', () => {
      if (!request.complete) reject(requestError('incomplete'))
    })
  })
}

/** Lets what is still coming go by for a moment, and then no more of it. */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) return
  request.removeAllListeners('data')
  request.resume()
  const late = setTimeout(() => request.destroy(), REST_MS)
  late.unref()
  request.once('close', () => clearTimeout(late))
}

/** The value of a header that is sent once; the name in lower case. */
export function headerIn(rawHeaders: readonly string[], name: string): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? ''
    if (given.length === name.length && given.toLowerCase() === name) return rawHeaders[at + 1]
  }
  return undefined
}

function tooLarge(maxBytes: number) {
  return requestError('too_large', { data: { maxBytes } })
}
