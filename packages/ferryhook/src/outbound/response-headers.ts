/** The headers of a destination's response that an attempt stores. */
import { type IsCredentialHeader, PLACEHOLDER } from '../events/credential-headers.ts'

export const MAX_RESPONSE_HEADERS = 50
/** A longer value is cut. */
export const MAX_RESPONSE_HEADER_CHARACTERS = 500
/** Of the stored JSON. Headers beyond it are left out. */
export const MAX_RESPONSE_HEADERS_CHARACTERS = 4_096

/** JSON with a placeholder for each credential. `sent` are names of credentials that we sent. */
export function storedResponseHeaders(
  headers: Readonly<Record<string, string>>,
  isCredentialHeader: IsCredentialHeader,
  sent: readonly string[] = [],
): string {
  const parts: string[] = []
  let length = '{}'.length
  for (const name of Object.keys(headers).slice(0, MAX_RESPONSE_HEADERS)) {
    const value = isCredentialHeader(name, sent) ? PLACEHOLDER : cut(headers[name] ?? '')
    const part = `${JSON.stringify(name)}:${JSON.stringify(value)}`
    length += part.length + 1
    if (length > MAX_RESPONSE_HEADERS_CHARACTERS) break
    parts.push(part)
  }
  return `{${parts.join(',')}}`
}

function cut(value: string): string {
  if (value.length <= MAX_RESPONSE_HEADER_CHARACTERS) return value
  return `${value.slice(0, MAX_RESPONSE_HEADER_CHARACTERS)}…`
}
