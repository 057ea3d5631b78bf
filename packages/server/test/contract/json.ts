/** JSON documents as snapshots compare them. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** With the keys of every object, and the names of its required properties, in order. */
function sorted(json: Json, key?: string): Json {
  if (Array.isArray(json)) {
    const items = json.map((item) => sorted(item))
    return key === 'required' ? items.toSorted((a, b) => (String(a) < String(b) ? -1 : 1)) : items
  }
  if (json === null || typeof json !== 'object') return json
  const entries = Object.entries(json).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, value]) => [name, sorted(value, name)]))
}

const WIDTH = 100

/** Every value that fits on a line is on one, so that a long document stays readable. */
function printed(json: Json, indent: string): string {
  const line = JSON.stringify(json)
  if (json === null || typeof json !== 'object' || indent.length + line.length <= WIDTH) return line
  const inner = `${indent}  `
  const [open, close] = Array.isArray(json) ? '[]' : '{}'
  const lines = Array.isArray(json)
    ? json.map((item) => printed(item, inner))
    : Object.entries(json).map(([key, value]) => `${JSON.stringify(key)}: ${printed(value, inner)}`)
  return `${open}\n${inner}${lines.join(`,\n${inner}`)}\n${indent}${close}`
}

/** The text of a snapshot: the same for equal values, whatever the order of their keys. */
export function snapshotText(value: unknown): string {
  return `${printed(sorted(JSON.parse(JSON.stringify(value)) as Json), '')}\n`
}

const TEXTS = new Set(['summary', 'description', 'example', 'examples'])

/** Keys of these are names, not words of OpenAPI or JSON Schema: a property may be a `description`. */
const NAMED = new Set(['properties', '$defs', 'schemas', 'securitySchemes', 'paths', 'responses'])

/**
 * An OpenAPI document or a JSON Schema without its texts for people. The error codes that the
 * description of a response lists are kept.
 */
export function withoutTexts(json: Json): Json {
  if (Array.isArray(json)) return json.map(withoutTexts)
  if (json === null || typeof json !== 'object') return json
  const entries = Object.entries(json).flatMap(([key, value]): [string, Json][] => {
    if (TEXTS.has(key)) {
      const codes = key === 'description' ? errorCodes(value) : []
      return codes.length === 0 ? [] : [['x-error-codes', codes]]
    }
    return [[key, NAMED.has(key) ? withoutTextsOfEach(value) : withoutTexts(value)]]
  })
  return Object.fromEntries(entries)
}

function withoutTextsOfEach(named: Json): Json {
  if (named === null || typeof named !== 'object' || Array.isArray(named)) return named
  return Object.fromEntries(
    Object.entries(named).map(([name, value]) => [name, withoutTexts(value)]),
  )
}

function errorCodes(description: Json): string[] {
  const lines =
    typeof description === 'string' ? description.matchAll(/^`([\w-]+\.[\w.-]+)`: /gm) : []
  return Array.from(lines, ([, code = '']) => code).toSorted()
}
