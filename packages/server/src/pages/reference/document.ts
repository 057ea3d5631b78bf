/** The OpenAPI document that the reference page shows. What is not as expected in it counts as absent. */

export interface Resolved {
  /** What the reference leads to, or the value itself; undefined where it leads nowhere. */
  target: unknown
  /** The name under `components.schemas`, where the target is one. */
  component: string | undefined
  /** What stands next to `$ref`: in OpenAPI 3.1 it counts too. */
  siblings: JsonObject | undefined
}

export interface References {
  resolve(value: unknown): Resolved
}

/** References that lead to references: more than this is a circle. */
const MAX_HOPS = 16

export function createReferences(document: unknown): References {
  return {
    resolve(value) {
      let target = value
      let component: string | undefined
      let siblings: JsonObject | undefined
      for (let hop = 0; isObject(target) && '$ref' in target; hop += 1) {
        const { $ref, ...rest } = target
        // Names and texts nearest to the use are the ones that were meant for it.
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

/** Reading a document that may hold anything: what is not as expected counts as absent. */
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

/** A value on one line, as JSON writes it; long ones are cut. */
export function inline(value: unknown, maxLength = 120): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}

/** Addresses inside the page: readable, and the same for the same document. */

/** Where the part of a service or tag begins, also for links from other pages. */
export function groupAnchor(name: string): string {
  return `group-${slug(name)}`
}

export function schemaAnchor(name: string): string {
  // Unlike slugs, not lowered: `Secret` and `secret` are two schemas.
  return `schema-${name.replaceAll(/[^A-Za-z0-9_.-]+/g, '-')}`
}

export function operationAnchor(method: string, path: string): string {
  return `${method.toLowerCase()}-${slug(path)}`
}

function slug(text: string): string {
  const words = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  return words.replaceAll(/^-|-$/g, '') || 'root'
}

/** Hands out each anchor once; a repeated one gets a number. */
export function createAnchors(): (wanted: string) => string {
  const taken = new Set<string>()
  return (wanted) => {
    let anchor = wanted
    for (let count = 2; taken.has(anchor); count += 1) anchor = `${wanted}-${count}`
    taken.add(anchor)
    return anchor
  }
}
