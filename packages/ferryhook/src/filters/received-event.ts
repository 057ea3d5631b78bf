/** An event as filters and transforms see it, and what can be parsed from it. */
import { type Budget, parseUnits } from './budget.ts'

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

type Values = Readonly<Record<string, string | string[]>>

// An event passes the filters of many connections and is parsed only once.
const contents = new WeakMap<FilteredEvent, { content: Content | undefined }>()
const queries = new WeakMap<FilteredEvent, Values>()
const headerIndexes = new WeakMap<FilteredEvent, ReadonlyMap<string, readonly string[]>>()

/** Undefined if the body is neither JSON nor a form. */
export function contentOf(event: FilteredEvent, budget: Budget): Content | undefined {
  let cached = contents.get(event)
  if (!cached) {
    cached = { content: parseContent(event, budget) }
    contents.set(event, cached)
  }
  return cached.content
}

/** The values of a name in the query string. */
export function queryValues(event: FilteredEvent, name: string, budget: Budget): string[] {
  let values = queries.get(event)
  if (!values) {
    budget.spend(formUnits(event.query ?? ''))
    values = parseQuery(event.query)
    queries.set(event, values)
  }
  return Object.hasOwn(values, name) ? [values[name] ?? []].flat() : []
}

/** The values of a header, whose name may be in any case. */
export function headerValues(
  event: FilteredEvent,
  name: string,
  budget: Budget,
): readonly string[] {
  let index = headerIndexes.get(event)
  if (!index) {
    budget.spend(UNITS_PER_HEADER * Object.keys(event.headers).length)
    index = indexHeaders(event.headers)
    headerIndexes.set(event, index)
  }
  return index.get(name.toLowerCase()) ?? []
}

function indexHeaders(headers: FilteredEvent['headers']): Map<string, string[]> {
  const index = new Map<string, string[]>()
  for (const [header, value] of Object.entries(headers)) {
    const name = header.toLowerCase()
    const existing = index.get(name)
    if (existing) existing.push(...[value].flat())
    else index.set(name, [value].flat())
  }
  return index
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

function parseContent({ body, contentType }: FilteredEvent, budget: Budget): Content | undefined {
  budget.spend(parseUnits(body.byteLength))
  const text = decodeBody(body)
  if (text === undefined) return undefined
  const json = parseJson(text)
  const isForm = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i.test(contentType ?? '')
  // Senders often label JSON as a form, but `1` or `true` is a form with a field of that name.
  if (json && !(isForm && !isContainer(json.value))) return { value: json.value, isTyped: true }
  if (!isForm) return undefined
  budget.spend(formUnits(text))
  return { value: valuesByName(new URLSearchParams(text)), isTyped: false }
}

const UNITS_PER_HEADER = 10
/** A field of a form or a query. */
const UNITS_PER_FIELD = 1.25

function formUnits(text: string): number {
  let fields = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) fields += 1
  return fields * UNITS_PER_FIELD + text.length / 64
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

/** A repeated name has a list of values. Without a prototype, `__proto__` is a name like any other. */
function valuesByName(parameters: URLSearchParams): Record<string, string | string[]> {
  const values = Object.create(null) as Record<string, string | string[]>
  for (const [name, value] of parameters) {
    const existing = values[name]
    if (existing === undefined) values[name] = value
    else if (typeof existing === 'string') values[name] = [existing, value]
    else existing.push(value)
  }
  return values
}
