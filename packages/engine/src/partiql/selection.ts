/**
 * The attributes that a SELECT returns. A path is returned under its last name; a path into a list under
 * the name and the first index, such as `DateWatched[0]`. Batches and transactions use a plain projection
 * instead.
 */
import { validationError } from '../errors.ts'
import { bindPath } from '../expressions/operands.ts'
import { addPath, type Path, type PathBranches, valueAt } from '../expressions/paths.ts'
import { type Projection, project } from '../expressions/projection.ts'
import type { PathSyntax } from '../expressions/syntax.ts'
import { type Item, setAttribute, type Value } from '../values/types.ts'
import { withoutKind } from './errors.ts'
import type { Bound } from './statement.ts'

const KIND = 'ProjectionExpression'

/** Undefined for all attributes. */
export function bindSelection(
  { placeholders }: Bound,
  syntax: readonly PathSyntax[] | undefined,
): Projection | undefined {
  if (!syntax) return undefined
  return withoutKind(() => {
    const paths = syntax.map((path) => bindPath(KIND, path, placeholders))
    const names = new Set<string>()
    for (const path of paths) {
      const name = shownName(path)
      if (names.has(name)) {
        throw validationError(`Duplicate identifiers in select clause: ${name}`)
      }
      names.add(name)
    }
    const branches: PathBranches<unknown> = new Map()
    for (const path of paths) addPath(branches, path, undefined, KIND)
    return { paths, branches }
  })
}

export function selected(selection: Projection | undefined, item: Item): Item {
  if (!selection) return item
  const shown: Item = {}
  for (const path of selection.paths) {
    const value = shownValue(path, item)
    if (value !== undefined) setAttribute(shown, shownName(path), value)
  }
  return shown
}

function firstIndex(path: Path): number {
  return path.findIndex((part) => typeof part === 'number')
}

function shownName(path: Path): string {
  const index = firstIndex(path)
  return index < 0 ? String(path.at(-1)) : `${path[index - 1]}[${path[index]}]`
}

function shownValue(path: Path, item: Item): Value | undefined {
  const index = firstIndex(path)
  if (index < 0 || index === path.length - 1) return valueAt(item, path)
  const branches: PathBranches<unknown> = new Map()
  addPath(branches, path, undefined, KIND)
  const list = valueAt(project({ paths: [path], branches }, item), path.slice(0, index))
  return Array.isArray(list) ? list[0] : undefined
}
