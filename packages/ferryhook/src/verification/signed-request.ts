/** The parts of a received request that signatures cover. */
import * as z from 'zod'
import { decodeBody, parseJson } from '../filters/received-event.ts'

export interface SignedRequest {
  method: string
  /** The configured address with the query as received; never taken from `Host`. */
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

/** Whether a header can be part of a signed text; the original bytes of others are unknown. */
export function isPrintable(text: string): boolean {
  return /^[\x21-\x7e]{1,256}$/.test(text)
}

/** The parsed body; undefined if it is not JSON. */
export function parseJsonBody(body: Uint8Array): unknown {
  const text = decodeBody(body)
  return text === undefined ? undefined : parseJson(text)?.value
}

/** An own property of a JSON object; undefined if there is none. */
export function propertyOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

/** Returns the values of a name in a header like `t=1,v1=aa,v1=bb`, in order. */
export function parseFields(header: string, separator: ',' | ';'): (name: string) => string[] {
  const fields = header.split(separator).map((field) => field.trim())
  return (name) =>
    fields
      .filter((field) => field.startsWith(`${name}=`))
      .map((field) => field.slice(name.length + 1))
}

const notAName = 'Must be the name of a header: letters, digits and hyphens'

/** An option that names a header, in lower case as in requests. */
export const headerName = z
  .string(notAName)
  .regex(/^[\w-]{1,100}$/, notAName)
  .toLowerCase()
