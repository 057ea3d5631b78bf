/**
 * Reads bodies up to a limit. The result is an outcome instead of an error, because each server words
 * its refusals in its own protocol.
 */
import type { IncomingMessage } from 'node:http'

export type BodyRead<Bytes extends Uint8Array = Uint8Array> =
  | { kind: 'read'; bytes: Bytes }
  | { kind: 'too_large' }
  /** The connection ended before the body did. */
  | { kind: 'incomplete' }

const TOO_LARGE = { kind: 'too_large' } as const
const INCOMPLETE = { kind: 'incomplete' } as const

/**
 * The body of a request to Node's server, by events: they cost a third of what an iterator does.
 * A body that is too large is left unread; call `discardRest` so that the client can read the response.
 */
export function readRequestBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<BodyRead<Buffer>> {
  return new Promise((resolve) => {
    // From the raw headers: `request.headers` would parse all of them for this one.
    const declared = findHeader(request.rawHeaders, 'content-length')
    if (declared !== undefined && Number(declared) > maxBytes) return resolve(TOO_LARGE)
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBytes) {
        chunks.push(chunk)
        return
      }
      request.off('data', onData)
      resolve(TOO_LARGE)
    }
    request.on('data', onData)
    request.on('end', () =>
      resolve({
        kind: 'read',
        bytes: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size),
      }),
    )
    request.on('error', () => resolve(INCOMPLETE))
    request.on('close', () => {
      if (!request.complete) resolve(INCOMPLETE)
    })
  })
}

/** All bytes of a stream. Leaving the loop early cancels the stream. A failure of the stream is thrown. */
export async function readStream(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<Exclude<BodyRead<Uint8Array<ArrayBuffer>>, { kind: 'incomplete' }>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > maxBytes) return TOO_LARGE
    chunks.push(chunk)
  }
  return { kind: 'read', bytes: concat(chunks, size) }
}

export interface StreamStart {
  bytes: Uint8Array
  /** The stream had more bytes than `maxBytes`, or failed. */
  isTruncated: boolean
  /** What the stream failed with; the bytes before the failure are kept. */
  error: unknown
}

/** The first bytes of a stream, also of one that fails on the way. */
export async function readStart(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<StreamStart> {
  const chunks: Uint8Array[] = []
  let size = 0
  let isTruncated = false
  let error: unknown
  try {
    for await (const chunk of stream) {
      const part = chunk.subarray(0, maxBytes - size)
      chunks.push(part)
      size += part.byteLength
      isTruncated = part.byteLength < chunk.byteLength
      if (isTruncated) break
    }
  } catch (thrown) {
    isTruncated = true
    error = thrown
  }
  return { bytes: concat(chunks, size), isTruncated, error }
}

/**
 * Reads the rest of a rejected body and drops it, within a limit: a connection that is closed with
 * unread bytes is reset, and the client may then never see the response.
 */
export function discardRest(
  request: IncomingMessage,
  limit: { ms: number } | { bytes: number },
): void {
  if (request.complete) return
  request.removeAllListeners('data')
  if ('bytes' in limit) {
    let left = limit.bytes
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) request.destroy()
    })
  } else {
    const timer = setTimeout(() => request.destroy(), limit.ms).unref()
    request.once('close', () => clearTimeout(timer))
  }
  request.resume()
}

/** The value of the first header of that name, which is given in lower case. */
export function findHeader(rawHeaders: readonly string[], name: string): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const candidate = rawHeaders[at] ?? ''
    if (candidate.length === name.length && candidate.toLowerCase() === name)
      return rawHeaders[at + 1]
  }
  return undefined
}

/** A copy on its own memory, which may be transferred or kept. */
function concat(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}
