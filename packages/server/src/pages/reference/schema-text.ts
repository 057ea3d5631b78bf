/** Types, values and constraints of schemas in words. */
import { type JsonObject, inline, isObject, listOf, textOf, textsOf } from './document.ts'

export function typeLabel(layers: readonly JsonObject[], itemLabel?: string): string {
  const types = typesOf(layers)
  const format = firstText(layers, 'format')
  const labels = types.map((type) => {
    if (type === 'array' && itemLabel !== undefined) return `array of ${itemLabel}`
    return format !== undefined && type !== 'null' ? `${type} (${format})` : type
  })
  return joinOr(labels)
}

function typesOf(layers: readonly JsonObject[]): string[] {
  for (const layer of layers) {
    const { type } = layer
    if (typeof type === 'string') return [type]
    const several = textsOf(type)
    if (several.length > 0) return several
  }
  const keys = new Set(layers.flatMap((layer) => Object.keys(layer)))
  if (keys.has('properties') || keys.has('additionalProperties')) return ['object']
  if (keys.has('items') || keys.has('prefixItems')) return ['array']
  const constant = layers.find((layer) => 'const' in layer || listOf(layer['enum']).length > 0)
  if (constant === undefined) return []
  const values = 'const' in constant ? [constant['const']] : listOf(constant['enum'])
  return [...new Set(values.map(jsonType))]
}

function jsonType(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

export function withNull(label: string): string {
  return /\bnull$/.test(label) ? label : `${label} or null`
}

export function joinOr(words: readonly string[]): string {
  return [...new Set(words)].join(' or ')
}

export function valuesOf(layers: readonly JsonObject[]): string[] {
  const values = layers.flatMap((layer) =>
    'const' in layer ? [layer['const']] : listOf(layer['enum']),
  )
  return [...new Set(values.map((value) => inline(value)))]
}

export function isNull(schema: unknown): boolean {
  return isObject(schema) && (schema['type'] === 'null' || schema['const'] === null)
}

export function firstText(layers: readonly JsonObject[], key: string): string | undefined
export function firstText<T>(
  layers: readonly JsonObject[],
  key: string,
  read: (value: unknown) => T,
): T | undefined
export function firstText(
  layers: readonly JsonObject[],
  key: string,
  read: (value: unknown) => unknown = textOf,
): unknown {
  for (const layer of layers) {
    const value = read(layer[key])
    if (value !== undefined) return value
  }
  return undefined
}

export interface Fact {
  text: string
  /** Shown as code after the text. */
  code?: string
}

export function schemaFacts(schema: JsonObject): Fact[] {
  return [
    ...range(schema, 'minLength', 'maxLength', 'character'),
    ...range(schema, 'minItems', 'maxItems', 'item'),
    ...range(schema, 'minProperties', 'maxProperties', 'property', 'properties'),
    ...numbers(schema),
    ...named(schema, 'pattern', 'matches'),
    ...named(schema, 'contentEncoding', 'encoded as'),
    ...named(schema, 'contentMediaType', 'holds'),
    ...flag(schema, 'uniqueItems', 'no item twice'),
    ...flag(schema, 'readOnly', 'only in responses'),
    ...flag(schema, 'writeOnly', 'only in requests'),
    ...('default' in schema ? [{ text: 'default', code: inline(schema['default']) }] : []),
    ...examples(schema),
  ]
}

function range(
  schema: JsonObject,
  least: string,
  most: string,
  one: string,
  many = `${one}s`,
): Fact[] {
  const min = numberAt(schema, least)
  const max = numberAt(schema, most)
  const unit = (count: number) => (count === 1 ? one : many)
  if (min !== undefined && max !== undefined)
    return [{ text: min === max ? `${max} ${unit(max)}` : `${min} to ${max} ${many}` }]
  if (min !== undefined && min > 0) return [{ text: `at least ${min} ${unit(min)}` }]
  return max === undefined ? [] : [{ text: `at most ${max} ${unit(max)}` }]
}

/** zod adds the range of safe integers to every integer, which says nothing to a reader. */
const isNews = (limit: number | undefined) =>
  limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER

function numbers(schema: JsonObject): Fact[] {
  const min = numberAt(schema, 'minimum')
  const max = numberAt(schema, 'maximum')
  const above = numberAt(schema, 'exclusiveMinimum')
  const below = numberAt(schema, 'exclusiveMaximum')
  const step = numberAt(schema, 'multipleOf')
  const facts: Fact[] = []
  if (isNews(min) && isNews(max)) facts.push({ text: `${min} to ${max}` })
  else if (isNews(min)) facts.push({ text: `at least ${min}` })
  else if (isNews(max)) facts.push({ text: `at most ${max}` })
  if (isNews(above)) facts.push({ text: `more than ${above}` })
  if (isNews(below)) facts.push({ text: `less than ${below}` })
  if (step !== undefined) facts.push({ text: `a multiple of ${step}` })
  return facts
}

function examples(schema: JsonObject): Fact[] {
  const given = 'example' in schema ? [schema['example']] : listOf(schema['examples']).slice(0, 3)
  return given.map((example) => ({ text: 'example', code: inline(example) }))
}

function named(schema: JsonObject, key: string, text: string): Fact[] {
  const value = schema[key]
  return typeof value === 'string' ? [{ text, code: value }] : []
}

function flag(schema: JsonObject, key: string, text: string): Fact[] {
  return schema[key] === true ? [{ text }] : []
}

function numberAt(schema: JsonObject, key: string): number | undefined {
  const value = schema[key]
  return typeof value === 'number' ? value : undefined
}
