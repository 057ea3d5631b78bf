/** A value that fits a schema, for examples: what the document gives, or else the plainest one. */
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
  /** Leave out what the other side writes. */
  direction: 'request' | 'answer'
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

  /** Undefined where a schema meets itself again, or the example has become too large. */
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
      // A request needs no more than this; an answer is shown whole.
      return isOurs && (direction === 'answer' || required.size === 0 || required.has(name))
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
