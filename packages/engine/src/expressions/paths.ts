/**
 * Document paths, and trees of paths that do not overlap. Projections and updates use such a tree
 * because it detects overlaps, and each list and map along the paths is visited once.
 */
import type { DynamoError } from '../errors.ts'
import { attribute, type Item, isMap, type Value } from '../values/types.ts'
import { expressionError } from './parser.ts'
import type { ExpressionKind } from './syntax.ts'

/** Attribute names and list indexes. */
export type Path = readonly (string | number)[]

export function valueAt(item: Item, path: Path): Value | undefined {
  let value = attribute(item, path[0] as string)
  for (let depth = 1; depth < path.length && value !== undefined; depth++) {
    value = partOf(value, path[depth] as string | number)
  }
  return value
}

/** An element of a list by its index, or an attribute of a map by its name. */
export function partOf(value: Value, part: string | number): Value | undefined {
  if (typeof part === 'number') return Array.isArray(value) ? value[part] : undefined
  return isMap(value) ? attribute(value, part) : undefined
}

export function equalPaths(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index])
}

/** Either the end of a path, or the branches below. */
export type PathTree<T> =
  | { readonly path: Path; readonly leaf: T; readonly branches?: undefined }
  | { readonly branches: Map<string | number, PathTree<T>>; readonly leaf?: undefined }

export type PathBranches<T> = Map<string | number, PathTree<T>>

/** Adds a path; throws if it overlaps another, or uses a list where another path uses a map. */
export function addPath<T>(root: PathBranches<T>, path: Path, leaf: T, kind: ExpressionKind): void {
  let branches = root
  for (let depth = 0; ; depth++) {
    const part = path[depth] as string | number
    const sibling = firstOf(branches)
    if (sibling && typeof sibling[0] !== typeof part) {
      throw clash(kind, 'conflict', path, anyPath(sibling[1]))
    }
    const existing = branches.get(part)
    if (depth === path.length - 1) {
      if (existing) throw clash(kind, 'overlap', path, anyPath(existing))
      branches.set(part, { path, leaf })
      return
    }
    if (existing === undefined) {
      const below: PathBranches<T> = new Map()
      branches.set(part, { branches: below })
      branches = below
    } else if (existing.branches) {
      branches = existing.branches
    } else {
      throw clash(kind, 'overlap', path, existing.path)
    }
  }
}

function firstOf<T>(branches: PathBranches<T>): [string | number, PathTree<T>] | undefined {
  for (const entry of branches) return entry
  return undefined
}

/** Of several paths below, AWS names the one that sorts last. */
function anyPath<T>(tree: PathTree<T>): Path {
  let at = tree
  while (at.branches) {
    let last: [string | number, PathTree<T>] | undefined
    for (const branch of at.branches) if (!last || branch[0] > last[0]) last = branch
    if (!last) return []
    at = last[1]
  }
  return at.path
}

function clash(kind: ExpressionKind, how: string, one: Path, two: Path): DynamoError {
  return expressionError(
    kind,
    `Two document paths ${how} with each other; must remove or rewrite one of these paths; path one: ${pathText(one)}, path two: ${pathText(two)}`,
  )
}

/** Prints a path as AWS does: [a, [0], b]. */
export function pathText(path: Path): string {
  return `[${path.map((part) => (typeof part === 'number' ? `[${part}]` : part)).join(', ')}]`
}
