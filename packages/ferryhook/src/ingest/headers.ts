/** The headers of a request, as an event stores them and as signatures need them. */
import { ferryhookError } from '../errors.ts'
import { PLACEHOLDER } from '../events/credential-headers.ts'

export interface ParsedHeaders {
  /** Lower-case names; repeated headers joined with a comma. */
  joined: Record<string, string>
  /** JSON for the event: a repeated header has a list of values, a credential a placeholder. */
  json: string
}

/** What the item of an event can store. */
const MAX_JSON_LENGTH = 65_536

/** Throws `headers_too_large` if they do not fit into an event. */
export function parseHeaders(
  rawHeaders: readonly string[],
  isCredentialHeader: (name: string) => boolean,
): ParsedHeaders {
  const joined: Record<string, string> = {}
  /** Headers whose stored value differs from the joined one; usually none. */
  const overrides = new Map<string, string | string[]>()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase()
    const value = rawHeaders[at + 1] as string
    // No provider sends it, and assigning it would change the prototype of `joined`.
    if (name === '__proto__') continue
    const isCredential = isCredentialHeader(name)
    if (isCredential) overrides.set(name, PLACEHOLDER)
    if (Object.hasOwn(joined, name)) {
      const previous = joined[name] as string
      if (!isCredential) overrides.set(name, [overrides.get(name) ?? previous, value].flat())
      joined[name] = `${previous}, ${value}`
    } else joined[name] = value
  }
  const stored = overrides.size === 0 ? joined : { ...joined, ...Object.fromEntries(overrides) }
  const json = JSON.stringify(stored)
  if (json.length > MAX_JSON_LENGTH) throw ferryhookError('headers_too_large')
  return { joined, json }
}
