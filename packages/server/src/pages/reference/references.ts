/** Follows `$ref` inside one document. Nothing is ever fetched. */
import { isObject, type JsonObject } from './json.ts'

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
