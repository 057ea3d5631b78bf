/** Words about schemas that all hold for the same value, the outermost first. */
import { inline, isObject, type JsonObject, listOf, textOf, textsOf } from './json.ts'

export function typeLabel(layers: readonly JsonObject[], itemLabel?: string): string {
  const types = typesOf(layers)
  const format = first(layers, 'format')
  const named = types.map((type) => {
    if (type === 'array' && itemLabel !== undefined) return `array of ${itemLabel}`
    return format !== undefined && type !== 'null' ? `${type} (${format})` : type
  })
  return joinOr(named)
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

export function first(layers: readonly JsonObject[], key: string): string | undefined
export function first<T>(
  layers: readonly JsonObject[],
  key: string,
  read: (value: unknown) => T,
): T | undefined
export function first(
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
