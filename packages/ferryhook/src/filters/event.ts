/** An event as filters and transforms see it, and what can be read from its body. */

export interface ReceivedEvent {
  id: string
  /** Milliseconds since the epoch. */
  receivedAt: number
  method: string
  /** Names in any case; a header that came several times may be a list. */
  headers: Readonly<Record<string, string | readonly string[]>>
  /** Without its question mark. */
  query?: string | undefined
  body: Uint8Array
  contentType?: string | undefined
}

/** What a filter may look at. */
export type FilteredEvent = Omit<ReceivedEvent, 'id' | 'receivedAt'>

/** A body that has parts. Those of a form are text, whatever they say; those of JSON have types. */
export interface Content {
  value: unknown
  isTyped: boolean
}

/** One event goes through the filters of many connections, and is parsed for the first of them. */
const contents = new WeakMap<FilteredEvent, { content: Content | undefined }>()

/** Undefined if the body is neither JSON nor a form. */
export function contentOf(event: FilteredEvent): Content | undefined {
  let known = contents.get(event)
  if (!known) {
    known = { content: readContent(event) }
    contents.set(event, known)
  }
  return known.content
}

/** The body as text, or undefined if it is not UTF-8. A byte order mark is not part of the text. */
export function bodyText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return undefined
  }
}

export function queryValues(query: string | undefined): Record<string, string | string[]> {
  return valuesByName(new URLSearchParams(query ?? ''))
}

function readContent({ body, contentType }: FilteredEvent): Content | undefined {
  const text = bodyText(body)
  if (text === undefined) return undefined
  const json = parseJson(text)
  const isForm = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i.test(contentType ?? '')
  // JSON is often sent as a form by mistake, but `1` or `true` is a form with that name in it.
  if (json && !(isForm && !isContainer(json.value))) return { value: json.value, isTyped: true }
  return isForm ? { value: valuesByName(new URLSearchParams(text)), isTyped: false } : undefined
}

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

/** As a list where a name comes several times. */
function valuesByName(parameters: URLSearchParams): Record<string, string | string[]> {
  const values = new Map<string, string[]>()
  for (const [name, value] of parameters) {
    const before = values.get(name)
    if (before) before.push(value)
    else values.set(name, [value])
  }
  const entries = [...values].map(([name, [first = '', ...more]]) => [
    name,
    more.length > 0 ? [first, ...more] : first,
  ])
  return Object.fromEntries(entries) as Record<string, string | string[]>
}
