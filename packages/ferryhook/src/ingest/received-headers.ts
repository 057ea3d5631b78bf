/** The headers of a request, as they are kept and as signatures see them. */
import { ferryhookError } from '../errors.ts'
import { isCredentialHeader } from '../items/credential-headers.ts'

export interface ReceivedHeaders {
  /** Lower-case names; repeated headers joined with a comma. */
  joined: Record<string, string>
  /** The same as JSON, with a list of values where a header was repeated. */
  json: string
}

/** Of credentials it is enough to know that they were there. */
const PLACEHOLDER = '(not kept)'

/** As the item of an event has it. */
const LONGEST_JSON = 65_536

/** Throws `headers_too_large` if they are longer than an event keeps. */
export function receivedHeaders(rawHeaders: readonly string[]): ReceivedHeaders {
  const joined: Record<string, string> = {}
  /** Those that are kept otherwise than they are joined: few, and mostly none. */
  const otherwise = new Map<string, string | string[]>()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase()
    const value = rawHeaders[at + 1] as string
    // No provider has it, and to an object it means something else.
    if (name === '__proto__') continue
    const isCredential = isCredentialHeader(name)
    if (isCredential) otherwise.set(name, PLACEHOLDER)
    if (Object.hasOwn(joined, name)) {
      const before = joined[name] as string
      if (!isCredential) otherwise.set(name, [otherwise.get(name) ?? before, value].flat())
      joined[name] = `${before}, ${value}`
    } else joined[name] = value
  }
  const kept = otherwise.size === 0 ? joined : { ...joined, ...Object.fromEntries(otherwise) }
  const json = JSON.stringify(kept)
  if (json.length > LONGEST_JSON) throw ferryhookError('headers_too_large')
  return { joined, json }
}
