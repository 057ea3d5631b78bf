/** The OpenAPI document of the reference page. Malformed parts count as absent. */

export interface Resolved {
  /** The target of the reference, or the value itself; undefined for a broken reference. */
  target: unknown
  /** The name under `components.schemas`, if the target is a named schema. */
  component: string | undefined
  /** Siblings of `$ref`, which OpenAPI 3.1 allows. */
  siblings: JsonObject | undefined
}

export interface References {
  resolve(value: unknown): Resolved
}

/** A longer chain of references is a cycle. */
const MAX_HOPS = 16

export function createReferences(document: unknown): References {
  return {
    resolve(value) {
      let target = value
      let component: string | undefined
      let siblings: JsonObject | undefined
      for (let hop = 0; isObject(target) && '$ref' in target; hop += 1) {
        const { $ref, ...rest } = target
        // Texts next to the reference override those of its target.
        siblings = { ...rest, ...siblings }
        component ??= componentName(String($ref))
        target = hop < MAX_HOPS ? at(document, String($ref)) : undefined
      }
      const hasSiblings = siblings !== undefined && Object.keys(siblings).length > 0
      return { target, component, siblings: hasSiblings ? siblings : undefined }
    },
  }
}

function componentName(pointer: string): string | undefined {
  const name = /^#\/components\/schemas\/([^/]+)$/.exec(pointer)?.[1]
  return name === undefined ? undefined : unescapePart(name)
}

function at(document: unknown, pointer: string): unknown {
  if (pointer === '#') return document
  if (!pointer.startsWith('#/')) return undefined
  let found = document
  for (const part of pointer.slice(2).split('/').map(unescapePart)) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    found = (found as JsonObject)[part]
  }
  return found
}

function unescapePart(part: string): string {
  const pointer = part.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(pointer)
  } catch {
    return pointer
  }
}

/** Reads untyped JSON; a value of another type counts as absent. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

export function textsOf(value: unknown): string[] {
  return listOf(value).filter((each): each is string => typeof each === 'string')
}

/** A value as JSON on one line; long ones are truncated. */
export function inline(value: unknown, maxLength = 120): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}

/** Anchors of the page: readable and stable. */

/** The anchor of a service or tag, also for links from other pages. */
export function groupAnchor(name: string): string {
  return `group-${slug(name)}`
}

export function schemaAnchor(name: string): string {
  // Case-sensitive, because `Secret` and `secret` are two schemas.
  return `schema-${name.replaceAll(/[^A-Za-z0-9_.-]+/g, '-')}`
}

export function operationAnchor(method: string, path: string): string {
  return `${method.toLowerCase()}-${slug(path)}`
}

function slug(text: string): string {
  const words = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  return words.replaceAll(/^-|-$/g, '') || 'root'
}

/** Makes anchors unique by adding a number to repeated ones. */
export function createAnchors(): (wanted: string) => string {
  const taken = new Set<string>()
  return (wanted) => {
    let anchor = wanted
    for (let count = 2; taken.has(anchor); count += 1) anchor = `${wanted}-${count}`
    taken.add(anchor)
    return anchor
  }
}
