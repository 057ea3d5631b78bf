/** The expressions of a request: paths into keys, and the filter and projection of a page. */
import type { PageInput } from '../db.ts'
import { validationError } from '../errors.ts'
import { type Condition, parseCondition } from '../expressions/condition.ts'
import { pathsOf, pathsReadBy } from '../expressions/named-paths.ts'
import type { Path } from '../expressions/paths.ts'
import type { Placeholders } from '../expressions/placeholders.ts'
import { type Projection, parseProjection } from '../expressions/projection.ts'
import type { Update } from '../expressions/update.ts'
import type { TableRecord } from '../storage/storage.ts'
import { keyAttributes } from '../validation/keys.ts'

/** The top-level attributes in a condition. */
export function conditionNames(condition: Condition | undefined): string[] {
  return [...new Set(condition ? pathsOf(condition).map(([name]) => String(name)) : [])]
}

interface Expressions {
  condition?: Condition | undefined
  projection?: Projection | undefined
  update?: Update | undefined
}

/** A key is a string, number or binary, so a path cannot go into it. */
export function rejectPathsIntoKeys(table: TableRecord, expressions: Expressions): void {
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

/** The top-level attributes in the expressions of a write. */
export function expressionAttributes(expressions: Expressions): string[] {
  return allPaths(expressions).map(([name]) => String(name))
}

function allPaths({ condition, projection, update }: Expressions): Path[] {
  const paths = condition ? pathsOf(condition) : []
  if (projection) paths.push(...projection.paths)
  if (update) paths.push(...update.paths, ...pathsReadBy(update))
  return paths
}

// The filter and the projection of Query and Scan. An empty expression is an error, not an absent one.

export function parsePageFilter(
  { FilterExpression: text }: PageInput,
  placeholders: Placeholders,
): Condition | undefined {
  return text === undefined || text === null
    ? undefined
    : parseCondition(text, 'FilterExpression', placeholders)
}

export function parsePageProjection(
  { ProjectionExpression: text }: PageInput,
  placeholders: Placeholders,
): Projection | undefined {
  return text === undefined || text === null ? undefined : parseProjection(text, placeholders)
}
