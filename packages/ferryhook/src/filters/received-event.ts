/** An event as filters and transforms see it, and what can be parsed from its body. */

export interface ReceivedEvent {
  id: string
  /** Milliseconds since the epoch. */
  receivedAt: number
  method: string
  /** Names in any case; a repeated header may be a list. */
  headers: Readonly<Record<string, string | readonly string[]>>
  /** Without the question mark. */
  query?: string | undefined
  body: Uint8Array
  contentType?: string | undefined
}

/** What a filter can select from. */
export type FilteredEvent = Omit<ReceivedEvent, 'id' | 'receivedAt'>

/** A parsed body. JSON values have types; the values of a form are all text. */
export interface Content {
  value: unknown
  isTyped: boolean
}

/** An event passes the filters of many connections and is parsed only once. */
const contents = new WeakMap<FilteredEvent, { content: Content | undefined }>()

/** Undefined if the body is neither JSON nor a form. */
export function contentOf(event: FilteredEvent): Content | undefined {
  let cached = contents.get(event)
  if (!cached) {
    cached = { content: parseContent(event) }
    contents.set(event, cached)
  }
  return cached.content
}

/** The body as text without its byte order mark; undefined if it is not UTF-8. */
export function decodeBody(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return undefined
  }
}

export function parseQuery(query: string | undefined): Record<string, string | string[]> {
  return valuesByName(new URLSearchParams(query ?? ''))
}

function parseContent({ body, contentType }: FilteredEvent): Content | undefined {
  const text = decodeBody(body)
  if (text === undefined) return undefined
  const json = parseJson(text)
  const isForm = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i.test(contentType ?? '')
  // Senders often label JSON as a form, but `1` or `true` is a form with a field of that name.
  if (json && !(isForm && !isContainer(json.value))) return { value: json.value, isTyped: true }
  return isForm ? { value: valuesByName(new URLSearchParams(text)), isTyped: false } : undefined
}

/** Undefined if the text is not JSON. `JSON.parse` does not recurse, so any depth is safe. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** A repeated name has a list of values. */
function valuesByName(parameters: URLSearchParams): Record<string, string | string[]> {
  const values = new Map<string, string[]>()
  for (const [name, value] of parameters) {
    const existing = values.get(name)
    if (existing) existing.push(value)
    else values.set(name, [value])
  }
  const entries = [...values].map(([name, [first = '', ...others]]) => [
    name,
    others.length > 0 ? [first, ...others] : first,
  ])
  return Object.fromEntries(entries) as Record<string, string | string[]>
}
