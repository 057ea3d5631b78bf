/** The keys and types of a JSON document, without its values. */
export type Shape = string | Shape[] | { [key: string]: Shape }

/** Names that users chose are not part of the contract. */
const MAPS = new Set(['headers', 'encryptionContext'])

export function shapeOf(value: unknown, key = ''): Shape {
  if (value === null) return 'null'
  if (Array.isArray(value)) {
    const shapes = value.map((item) => JSON.stringify(shapeOf(item)))
    return [...new Set(shapes)].toSorted().map((shape) => JSON.parse(shape) as Shape)
  }
  if (typeof value !== 'object') return typeof value
  if (MAPS.has(key)) return 'map'
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, each]) => [name, shapeOf(each, name)]))
}
