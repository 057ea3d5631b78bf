/** An example value of a schema: that of the document, or the simplest valid one. */
import {
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  textOf,
  textsOf,
  type References,
} from './document.ts'

export interface ExampleOptions {
  /** Omits read-only fields of requests and write-only fields of responses. */
  direction: 'request' | 'response'
}

const MAX_NODES = 200

const FORMATS: Readonly<Record<string, string>> = {
  date: '2030-01-31',
  'date-time': '2030-01-31T12:00:00Z',
  email: 'person@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  time: '12:00:00Z',
  uri: 'https://example.com',
  url: 'https://example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
}

export function exampleOf(
  whole: unknown,
  references: References,
  { direction }: ExampleOptions,
): unknown {
  const skipped = direction === 'request' ? 'readOnly' : 'writeOnly'
  let nodes = 0
  return build(whole, []) ?? null

  /** Undefined for a recursive schema, or if the example becomes too large. */
  function build(given: unknown, above: readonly unknown[]): unknown {
    const { target, siblings } = references.resolve(given)
    nodes += 1
    if (nodes > MAX_NODES || (isObject(target) && above.includes(target))) return undefined
    const schema: JsonObject = { ...objectOf(target), ...siblings }
    const found = [
      schema['const'],
      schema['example'],
      listOf(schema['examples'])[0],
      schema['default'],
      listOf(schema['enum'])[0],
    ].find((value) => value !== undefined)
    if (found !== undefined) return found

    const within = [...above, target]
    const parts = listOf(schema['allOf']).map((part) => build(part, within))
    const [form] = [...listOf(schema['oneOf']), ...listOf(schema['anyOf'])]
    if (form !== undefined) parts.push(build(form, within))
    if (isObject(schema['properties'])) parts.push(objectExample(schema, within))
    const made = parts.filter((part) => part !== undefined)
    if (made.length === 0) return plain(schema, within)
    return made.every(isObject) ? Object.assign({}, ...made) : made.find((part) => part !== null)
  }

  function objectExample(schema: JsonObject, above: readonly unknown[]): JsonObject {
    const properties = Object.entries(objectOf(schema['properties']))
    const required = new Set(textsOf(schema['required']))
    const shown = properties.filter(([name, property]) => {
      const { target, siblings } = references.resolve(property)
      const isOurs = (siblings?.[skipped] ?? objectOf(target)[skipped]) !== true
      // Requests show only required fields, responses all of them.
      return isOurs && (direction === 'response' || required.size === 0 || required.has(name))
    })
    const made = shown.map(([name, property]) => [name, build(property, above)] as const)
    return Object.fromEntries(made.filter(([, value]) => value !== undefined))
  }

  function plain(schema: JsonObject, above: readonly unknown[]): unknown {
    const type = textOf(schema['type']) ?? textsOf(schema['type']).find((each) => each !== 'null')
    switch (type) {
      case 'string':
        return FORMATS[textOf(schema['format']) ?? ''] ?? 'string'
      case 'integer':
      case 'number':
        return smallest(schema)
      case 'boolean':
        return true
      case 'object':
        return {}
      default:
        if (type !== 'array' && !('items' in schema)) return null
        return [build(schema['items'], above)].filter((item) => item != null)
    }
  }
}

function smallest(schema: JsonObject): number {
  const { minimum, exclusiveMinimum } = schema
  if (typeof minimum === 'number' && minimum > Number.MIN_SAFE_INTEGER) return minimum
  return typeof exclusiveMinimum === 'number' && exclusiveMinimum > Number.MIN_SAFE_INTEGER
    ? exclusiveMinimum + 1
    : 0
}
