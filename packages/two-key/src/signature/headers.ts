/** Headers as servers give them: Node's and Lambda's objects, in any case, and those of fetch. */
export type HeaderSource =
  | Headers
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** The one value of a header (its name in lower case); undefined if there is none or several. */
export function headerOf(headers: HeaderSource, name: string): string | undefined {
  if (isFetchHeaders(headers)) return headers.get(name) ?? undefined
  let found: string | undefined
  for (const key in headers) {
    // Lengths first: this runs for every header of every request.
    if (key.length !== name.length || (key !== name && key.toLowerCase() !== name)) continue
    const value = headers[key]
    if (value === undefined) continue
    const one = typeof value === 'string' ? value : value.length === 1 ? value[0] : undefined
    // Sent twice: who reads the first would see another than who reads the last.
    if (one === undefined || found !== undefined) return undefined
    found = one
  }
  return found
}

/** By its shape: the class is not the same one in every framework. */
function isFetchHeaders(headers: HeaderSource): headers is Headers {
  return typeof headers.get === 'function'
}
