/** A request as it came in, as far as signatures go. */
import { bodyText, parseJson } from '../filters/event.ts'

export interface SignedRequest {
  method: string
  /** Where the provider was told to send it, with the query as received; never from `Host`. */
  url: string
  /** Lower-case names, values as received; repeated headers joined with a comma. */
  headers: Readonly<Record<string, string | undefined>>
  body: Uint8Array
}

export function headerOf(
  { headers }: Pick<SignedRequest, 'headers'>,
  name: string,
): string | undefined {
  // A header may be called `constructor`.
  return Object.hasOwn(headers, name) ? headers[name] : undefined
}

/** Whether a header can be part of a signed text: what the bytes of any other were is unknown. */
export function isPrintable(text: string): boolean {
  return /^[\x21-\x7e]{1,256}$/.test(text)
}

/** What the body says in JSON; undefined if it is something else. */
export function jsonOf(body: Uint8Array): unknown {
  const text = bodyText(body)
  return text === undefined ? undefined : parseJson(text)?.value
}

/** An attribute of a JSON object; undefined if it has none of its own by that name. */
export function attributeOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}
