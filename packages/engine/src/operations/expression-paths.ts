/** The paths of a request's expressions, held against a table's keys and an index's projection. */
import { validationError } from '../errors.ts'
import type { Condition } from '../expressions/condition.ts'
import { pathsOf, pathsReadBy } from '../expressions/named-paths.ts'
import type { Path } from '../expressions/paths.ts'
import type { Projection } from '../expressions/projection.ts'
import type { Update } from '../expressions/update.ts'
import type { TableRecord } from '../storage/store.ts'
import { keyAttributes } from '../validation/keys.ts'

/** The top-level attributes a condition looks at. */
export function conditionNames(condition: Condition | undefined): string[] {
  return [...new Set(condition ? pathsOf(condition).map(([name]) => String(name)) : [])]
}

interface Expressions {
  condition?: Condition | undefined
  projection?: Projection | undefined
  update?: Update | undefined
}

/** A key is a string, a number or a binary: there is nothing inside it. */
export function refusePathsIntoKeys(table: TableRecord, expressions: Expressions): void {
  const { condition, projection, update } = expressions
  if (!condition && !projection && !update) return
  const nested = new Set<string>()
  for (const path of allPaths(expressions)) if (path.length > 1) nested.add(String(path[0]))
  if (nested.size === 0) return
  for (const { name } of keyAttributes(table.keys))
    if (nested.has(name)) throw notScalar('Key', name)
  for (const { keys } of table.indexes) {
    for (const { name } of keyAttributes(keys)) {
      if (nested.has(name)) throw notScalar('IndexKey', name)
    }
  }
}

function notScalar(kind: 'Key' | 'IndexKey', name: string): Error {
  return validationError(
    `Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ${kind}: ${name}`,
  )
}

function allPaths({ condition, projection, update }: Expressions): Path[] {
  const paths = condition ? pathsOf(condition) : []
  if (projection) paths.push(...projection.paths)
  if (update) paths.push(...update.paths, ...pathsReadBy(update))
  return paths
}
