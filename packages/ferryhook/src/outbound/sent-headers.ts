/**
 * The headers of a delivery as an attempt records them. A header that has the value of the event's
 * own is stored as `true`, because the event stores the value already.
 */
import { type IsCredentialHeader, PLACEHOLDER } from '../events/credential-headers.ts'
import type { HeaderFields } from './headers.ts'

/** Of the stored JSON. Forwarded headers beyond it are left out. */
export const MAX_SENT_HEADERS_CHARACTERS = 4_096
/** A longer value is cut. */
const MAX_SENT_HEADER_CHARACTERS = 500

/** `credentials` are names of the connection's own headers, whose values are never recorded. */
export function storedSentHeaders(
  sent: HeaderFields,
  received: HeaderFields,
  {
    isCredentialHeader,
    credentials,
  }: { isCredentialHeader: IsCredentialHeader; credentials: readonly string[] },
): string {
  const own: string[] = []
  const forwarded: string[] = []
  for (const [name, value] of Object.entries(sent)) {
    const isSecret = credentials.includes(name) || isCredentialHeader(name)
    if (isSecret) own.push(part(name, PLACEHOLDER))
    else if (isSame(value, received[name])) forwarded.push(part(name, true))
    else own.push(part(name, [value].flat().map(cut).join(', ')))
  }
  const parts: string[] = []
  let length = '{}'.length
  // What the event does not have comes first, because nothing else shows it.
  for (const each of [...own, ...forwarded]) {
    length += each.length + 1
    if (length > MAX_SENT_HEADERS_CHARACTERS) break
    parts.push(each)
  }
  return `{${parts.join(',')}}`
}

/** With the values of the event's own headers. */
export function restoreSentHeaders(
  stored: string,
  received: HeaderFields,
): Record<string, string | string[]> {
  const headers = JSON.parse(stored) as Record<string, string | true>
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const original = value === true ? (received[name] ?? '') : value
      return [name, typeof original === 'string' ? original : [...original]]
    }),
  )
}

function part(name: string, value: string | true): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`
}

function isSame(a: string | readonly string[], b: string | readonly string[] | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function cut(value: string): string {
  if (value.length <= MAX_SENT_HEADER_CHARACTERS) return value
  return `${value.slice(0, MAX_SENT_HEADER_CHARACTERS)}…`
}
