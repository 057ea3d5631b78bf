/**
 * Reads the body of a request within DynamoDB's limit, and refuses JSON that nests deeper than any
 * request can: parsing it would take memory far beyond its own size.
 */
import type { IncomingMessage } from 'node:http'
import { DynamoError, serializationError } from './errors.ts'

const MOST_BYTES = 16 * 1024 * 1024
/** A document of 32 levels has two levels of JSON for each, inside a request of a few more. */
const MOST_DEPTH = 256
/** Smaller bodies cannot nest deep enough to matter. */
const HARMLESS_BYTES = 16 * 1024

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > MOST_BYTES) throw tooLarge()
  const body = await collected(request)
  if (body.length > HARMLESS_BYTES && nestsTooDeep(body)) throw serializationError('')
  return body
}

/** By events, which cost a third of what an iterator does. */
function collected(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= MOST_BYTES) return
      request.off('data', onData)
      reject(tooLarge())
    }
    request.on('data', onData)
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    request.on('error', reject)
    request.on('close', () => {
      if (!request.complete) reject(new Error('The client went away'))
    })
  })
}

/**
 * Takes the rest of a refused body off the wire, so that the client gets to read the answer; a
 * connection closed on unread bytes is reset. There is an end to that patience, too.
 */
export function discardBody(request: IncomingMessage): void {
  let left = 4 * MOST_BYTES
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) request.destroy()
  })
  request.resume()
}

function tooLarge(): Error {
  return new DynamoError(
    'RequestEntityTooLargeException',
    'Request size exceeds the limit of 16 MB',
    413,
  )
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_MAP = 0x7b
const CLOSE_MAP = 0x7d

function nestsTooDeep(json: Buffer): boolean {
  let depth = 0
  let quoted = false
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]
    if (quoted) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) quoted = false
    } else if (byte === QUOTE) {
      quoted = true
    } else if (byte === OPEN_LIST || byte === OPEN_MAP) {
      depth += 1
      if (depth > MOST_DEPTH) return true
    } else if (byte === CLOSE_LIST || byte === CLOSE_MAP) {
      depth -= 1
    }
  }
  return false
}
