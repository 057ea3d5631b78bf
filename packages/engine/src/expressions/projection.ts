/**
 * Projections: the parts of an item to return. A nested path returns its value inside the lists and maps
 * that contain it; gaps between list elements are closed.
 */
import { type Item, isMap, setAttribute, type Value } from '../values/types.ts'
import { cachedByText } from './cache.ts'
import { checkPath } from './check-syntax.ts'
import { bindPath } from './operands.ts'
import { Parser } from './parser.ts'
import { addPath, partOf, type Path, type PathBranches, type PathTree } from './paths.ts'
import type { Placeholders } from './placeholders.ts'
import type { PathSyntax } from './syntax.ts'

const KIND = 'ProjectionExpression'

export interface Projection {
  readonly paths: readonly Path[]
  readonly branches: PathBranches<unknown>
}

const parse = cachedByText((text) => {
  const parser = new Parser(KIND, text)
  const paths = parser.list(() => parser.path())
  parser.expect('end')
  for (const path of paths) checkPath(KIND, path)
  return paths
})

export function parseProjection(text: string, placeholders: Placeholders): Projection {
  const syntax = parse(text)
  const paths: Path[] = []
  const branches: PathBranches<unknown> = new Map()
  // AWS reports the last of several mistakes.
  for (let index = syntax.length - 1; index >= 0; index--) {
    const path = bindPath(KIND, syntax[index] as PathSyntax, placeholders)
    addPath(branches, path, undefined, KIND)
    paths[index] = path
  }
  return { paths, branches }
}

export function project({ branches }: Projection, item: Item): Item {
  return projectedMap(branches, item)
}

export function projectedMap<T>(branches: PathBranches<T>, map: Item): Item {
  const projected: Item = {}
  for (const [name, tree] of branches) {
    const value = projectedPart(tree, map, name)
    if (value !== undefined) setAttribute(projected, name as string, value)
  }
  return projected
}

function projectedPart<T>(tree: PathTree<T>, container: Value, part: string | number) {
  const value = partOf(container, part)
  if (value === undefined || !tree.branches) return value
  if (Array.isArray(value)) {
    const elements = projectedElements(tree.branches, value)
    return elements.length > 0 ? elements : undefined
  }
  if (!isMap(value)) return undefined
  const inner = projectedMap(tree.branches, value)
  return hasAttributes(inner) ? inner : undefined
}

function projectedElements<T>(branches: PathBranches<T>, list: Value[]): Value[] {
  const elements: Value[] = []
  const indexes = [...branches.keys()].filter((part) => typeof part === 'number')
  for (const index of indexes.toSorted((a, b) => a - b)) {
    const element = projectedPart(branches.get(index) as PathTree<T>, list, index)
    if (element !== undefined) elements.push(element)
  }
  return elements
}

function hasAttributes(map: Item): boolean {
  for (const name in map) if (Object.hasOwn(map, name)) return true
  return false
}
