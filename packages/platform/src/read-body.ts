/**
 * Reads bodies up to a limit. Returns an outcome instead of throwing, because each protocol has its own
 * errors.
 */
import type { IncomingMessage } from 'node:http'

export type BodyRead<Bytes extends Uint8Array = Uint8Array> =
  | { kind: 'read'; bytes: Bytes }
  | { kind: 'too_large' }
  /** The connection ended before the body did. */
  | { kind: 'incomplete' }

/** With a budget for the bodies of all requests, which may be used up. */
export type BudgetedRead<Bytes extends Uint8Array = Uint8Array> =
  | BodyRead<Bytes>
  | { kind: 'no_capacity' }

/** Limits the bytes of all bodies that are held at the same time. */
export interface BodyBudget {
  /** Whether there is room for these bytes, which then count. */
  take(bytes: number): boolean
}

/** A client may send a byte at a time, and each chunk is an object of some hundred bytes. */
const MAX_SMALL_CHUNKS = 256
const SMALL_CHUNK_BYTES = 1_024

const TOO_LARGE = { kind: 'too_large' } as const
const NO_CAPACITY = { kind: 'no_capacity' } as const
const INCOMPLETE = { kind: 'incomplete' } as const

/**
 * Reads the body of a request to Node's server, with events because they cost a third of an iterator.
 * A body that is too large, or for which there is no budget, is left unread; call `discardRest` so that the client can read the response.
 */
export function readRequestBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<BodyRead<Buffer>>
export function readRequestBody(
  request: IncomingMessage,
  maxBytes: number,
  budget: BodyBudget,
): Promise<BudgetedRead<Buffer>>
export function readRequestBody(
  request: IncomingMessage,
  maxBytes: number,
  budget?: BodyBudget,
): Promise<BudgetedRead<Buffer>> {
  return new Promise((resolve) => {
    // Uses the raw headers, because `request.headers` would parse all of them.
    const declared = findHeader(request.rawHeaders, 'content-length')
    if (declared !== undefined && Number(declared) > maxBytes) return resolve(TOO_LARGE)
    const chunks: Buffer[] = []
    /** How many of the last chunks are small. */
    let smallChunks = 0
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      const isTooLarge = size > maxBytes
      if (isTooLarge || (budget && !budget.take(chunk.length))) {
        request.off('data', onData)
        chunks.length = 0
        resolve(isTooLarge ? TOO_LARGE : NO_CAPACITY)
        return
      }
      chunks.push(chunk)
      smallChunks = chunk.length < SMALL_CHUNK_BYTES ? smallChunks + 1 : 0
      if (smallChunks === MAX_SMALL_CHUNKS) {
        chunks.push(Buffer.concat(chunks.splice(-MAX_SMALL_CHUNKS)))
        smallChunks = 0
      }
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

/** Reads all bytes of a stream. Leaving the loop early cancels the stream. Errors of the stream are thrown. */
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
  return { kind: 'read', bytes: concatBytes(chunks, size) }
}

/**
 * Reads and drops the rest of a rejected body, up to a limit: closing a connection with unread bytes
 * resets it, and the client may never see the response.
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

/** The value of the first header with that lower-case name. */
export function findHeader(rawHeaders: readonly string[], name: string): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const candidate = rawHeaders[at] ?? ''
    if (candidate.length === name.length && candidate.toLowerCase() === name)
      return rawHeaders[at + 1]
  }
  return undefined
}

/** A copy with its own memory, which can be transferred or kept. */
export function concatBytes(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}
