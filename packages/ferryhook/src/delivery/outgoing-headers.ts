/** Which headers a destination gets: those of the event, those of its owner, and ours, in that order. */
import { checkHeader, isForbiddenHeader } from '@strongroom/kit/safe-fetch/request-headers'
import type { RequestHeaders } from '@strongroom/kit/safe-fetch/request-headers'
import { isCredentialHeader } from '../items/credential-headers.ts'

/** These are ours: what the event had under such a name gets another one. */
const ours = /^(?:webhook-|x-ferryhook-|user-agent$)/
const PREFIX = 'x-original-'

/** They say something of the bytes of the body, and would say it of others. */
const ofTheBytes = new Set([
  'content-encoding',
  'content-type',
  'content-md5',
  'content-digest',
  'repr-digest',
  'digest',
  'etag',
])

const none: ReadonlySet<string> = new Set()

export type HeaderFields = Readonly<Record<string, string | readonly string[]>>

/** The headers of an event as they are sent on, with lower-case names. */
export function forwardedHeaders(
  headers: HeaderFields,
  { bodyIsSame }: { bodyIsSame: boolean },
): Record<string, string | readonly string[]> {
  const forwarded: Record<string, string | readonly string[]> = {}
  const named = namedByConnection(headers)
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase()
    if (isForbiddenHeader(name) || name === 'content-length' || named.has(name)) continue
    // Credentials of the sender were for us.
    if (isCredentialHeader(name)) continue
    if (!bodyIsSame && ofTheBytes.has(name)) continue
    // What a sender may send but nobody may send on is left out, and does not stop the event.
    if (!isSendable(name, value)) continue
    forwarded[ours.test(name) ? PREFIX + name : name] = value
  }
  return forwarded
}

/** Later ones replace earlier ones of the same name. Whether they can be sent is checked by the client. */
export function outgoingHeaders(...layers: readonly HeaderFields[]): RequestHeaders {
  const outgoing: Record<string, string | readonly string[]> = {}
  for (const layer of layers) {
    for (const name of Object.keys(layer)) outgoing[name.toLowerCase()] = layer[name] ?? ''
  }
  return outgoing
}

/** Headers that are of the connection because the sender said so (RFC 9110 section 7.6.1). */
function namedByConnection(headers: HeaderFields): ReadonlySet<string> {
  const given = Object.keys(headers).find((name) => name.toLowerCase() === 'connection')
  if (given === undefined) return none
  const names = [headers[given] ?? ''].flat().join(',').split(',')
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
