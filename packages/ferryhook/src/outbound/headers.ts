/** The headers of an outgoing webhook: those of the event, of the connection, and our own, in that order. */
import {
  checkHeader,
  isForbiddenHeader,
  type RequestHeaders,
} from '@strongroom/kit/safe-fetch/request-headers'
import { isCredentialHeader } from '../ingest/headers.ts'

/** Reserved for our own headers. The event's headers of these names get a prefix. */
const reserved = /^(?:webhook-|x-ferryhook-|user-agent$)/
const PREFIX = 'x-original-'

/** Headers that describe the bytes of the body. They are dropped if a transform changes the body. */
const bodyHeaders = new Set([
  'content-encoding',
  'content-type',
  'content-md5',
  'content-digest',
  'repr-digest',
  'digest',
  'etag',
])

const noNames: ReadonlySet<string> = new Set()

export type HeaderFields = Readonly<Record<string, string | readonly string[]>>

/** The headers of an event that are forwarded, with lower-case names. */
export function forwardedHeaders(
  headers: HeaderFields,
  { isBodyUnchanged }: { isBodyUnchanged: boolean },
): Record<string, string | readonly string[]> {
  const forwarded: Record<string, string | readonly string[]> = {}
  const hopByHop = namedByConnection(headers)
  for (const [rawName, value] of Object.entries(headers)) {
    const name = rawName.toLowerCase()
    if (isForbiddenHeader(name) || name === 'content-length' || hopByHop.has(name)) continue
    // Credentials of the sender are for Ferryhook only.
    if (isCredentialHeader(name)) continue
    if (!isBodyUnchanged && bodyHeaders.has(name)) continue
    // A header that cannot be sent is dropped, so that it does not block the event.
    if (!isSendable(name, value)) continue
    forwarded[reserved.test(name) ? PREFIX + name : name] = value
  }
  return forwarded
}

/** Later layers replace earlier ones. The HTTP client validates the result. */
export function mergeHeaders(...layers: readonly HeaderFields[]): RequestHeaders {
  const outgoing: Record<string, string | readonly string[]> = {}
  for (const layer of layers) {
    for (const name of Object.keys(layer)) outgoing[name.toLowerCase()] = layer[name] ?? ''
  }
  return outgoing
}

/** Hop-by-hop headers that the Connection header names (RFC 9110 section 7.6.1). */
function namedByConnection(headers: HeaderFields): ReadonlySet<string> {
  const connection = Object.keys(headers).find((name) => name.toLowerCase() === 'connection')
  if (connection === undefined) return noNames
  const names = [headers[connection] ?? ''].flat().join(',').split(',')
  return new Set(names.map((name) => name.trim().toLowerCase()))
}

function isSendable(name: string, value: string | readonly string[]): boolean {
  try {
    if (typeof value === 'string') checkHeader(name, value)
    else for (const single of value) checkHeader(name, single)
    return true
  } catch {
    return false
  }
}
