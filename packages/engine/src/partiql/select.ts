/**
 * SELECT: a query if the WHERE clause determines the partitions, otherwise a scan. Pages are those of
 * Query and Scan.
 */
import type { PageOutput } from '../db.ts'
import type { ExecuteStatementInput } from '../db-partiql.ts'
import { validationError } from '../errors.ts'
import type { Condition } from '../expressions/condition.ts'
import type { AttributeCondition } from '../expressions/key-condition.ts'
import { conditionNames, rejectPathsIntoKeys } from '../operations/expressions.ts'
import type { Context } from '../operations/operation.ts'
import {
  readPage,
  rejectUnprojectedFilter,
  requestedIndex,
  requestedNames,
} from '../operations/page.ts'
import { checkQueryStart, checkScanStart } from '../operations/start-key.ts'
import type { IndexRecord, KeySchema, RangeQuery, TableRecord } from '../storage/storage.ts'
import { keyAttributes } from '../validation/keys.ts'
import { existingTable } from '../validation/names.ts'
import { equal } from '../values/compare.ts'
import { compare } from '../values/order.ts'
import { attribute, type Item, type Value } from '../values/types.ts'
import { type Bound, bindWhere } from './statement.ts'
import { allOf, assertKeyType, choicesOf, comparisonOf, conjuncts } from './key-values.ts'
import { bindSelection, selected } from './selection.ts'
import type { Select } from './syntax.ts'

type SelectOptions = Pick<
  ExecuteStatementInput,
  'ConsistentRead' | 'Limit' | 'ReturnConsumedCapacity'
>

export async function runSelect(
  context: Context,
  body: Select,
  bound: Bound,
  options: SelectOptions,
  startKey: Item | undefined,
): Promise<PageOutput> {
  const where = bindWhere(bound, body.where)
  const projection = bindSelection(bound, body.paths)
  const table = existingTable(context.storage, body.table)
  const input = {
    ...options,
    TableName: table.name,
    ...(body.index !== undefined && { IndexName: body.index }),
  }
  const index = requestedIndex(table, input)
  rejectPathsIntoKeys(table, { condition: where, projection })
  const shown = requestedNames(input, { table, index, projection })
  const keys = index?.keys ?? table.keys
  const search = searchOf(keys, where)
  const reverse = validateOrder(keys, body, search)
  if (search) rejectUnprojectedFilter({ table, index }, conditionNames(search.filter))
  const consistent = options.ConsistentRead === true
  const ranges = search
    ? search.partitions.map((partition): RangeQuery => ({
        partition,
        ...(search.sort && { sort: search.sort }),
        reverse,
        consistent,
      }))
    : [{ consistent }]
  const page = await readPage(context, input, {
    table,
    index,
    filter: search ? search.filter : where,
    projection: undefined,
    shown,
    ranges: startKey ? rangesFrom(table, index, ranges, startKey) : ranges,
  })
  return { ...page, Items: (page.Items ?? []).map((item) => selected(projection, item)) }
}

interface Search {
  partitions: Value[]
  sort: AttributeCondition | undefined
  /** The conditions that the key ranges do not already guarantee. */
  filter: Condition | undefined
}

function searchOf({ partition, sort }: KeySchema, where: Condition | undefined) {
  const conditions = conjuncts(where)
  const by = conditions.find((condition) => choicesOf(partition.name, condition))
  const partitions = by && choicesOf(partition.name, by)
  if (!partitions) return undefined
  for (const value of partitions) {
    assertKeyType(partition, value)
    assertNotEmpty(partition.name, value)
  }
  const ranged = sort ? conditions.filter((condition) => comparisonOf(sort.name, condition)) : []
  const within =
    ranged.find((condition) => sort && comparisonOf(sort.name, condition)?.op === '=') ?? ranged[0]
  const range = sort && within && comparisonOf(sort.name, within)
  for (const value of range?.values ?? []) assertKeyType(sort as KeySchema['partition'], value)
  const search: Search = {
    partitions: distinct(partitions),
    sort: range,
    filter: allOf(conditions.filter((condition) => condition !== by && condition !== within)),
  }
  return search
}

function assertNotEmpty(name: string, value: Value): void {
  if (value !== '' && !(value instanceof Uint8Array && value.length === 0)) return
  throw validationError(
    `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ${value === '' ? 'string' : 'binary'} value. Key: ${name}`,
  )
}

/** Sorts and deduplicates the partitions; pages are in this order. */
function distinct(values: readonly Value[]): Value[] {
  const sorted = values.toSorted(compare)
  return sorted.filter((value, at) => at === 0 || !equal(value, sorted[at - 1] as Value))
}

/** Whether sort keys are in descending order. Reverses the partitions if they must be. */
function validateOrder(keys: KeySchema, { order, where }: Select, search: Search | undefined) {
  if (order.length === 0) return false
  if (!where) {
    throw validationError('Must have WHERE clause in the statement when using ORDER BY clause.')
  }
  const names = keyAttributes(keys).map(({ name }) => name)
  for (const { name } of order) {
    if (names.includes(name)) continue
    throw validationError(
      `Variable reference ${name} in ORDER BY clause must be part of the primary key`,
    )
  }
  if (!search) {
    throw validationError(
      'Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.',
    )
  }
  const isDescending = (key: string | undefined) =>
    order.some(({ name, descending }) => descending && name === key)
  if (isDescending(keys.partition.name)) search.partitions.reverse()
  return isDescending(keys.sort?.name)
}

/** The ranges that remain after the last key of the previous page. */
function rangesFrom(
  table: TableRecord,
  index: IndexRecord | undefined,
  ranges: readonly RangeQuery[],
  startKey: Item,
): RangeQuery[] {
  const value = attribute(startKey, (index?.keys ?? table.keys).partition.name)
  const at = ranges.findIndex(
    ({ partition }) => partition === undefined || (value !== undefined && equal(partition, value)),
  )
  const range = ranges[at]
  if (!range) throw invalidToken()
  const { partition, sort } = range
  try {
    if (partition === undefined) checkScanStart(table, index, startKey, undefined)
    else checkQueryStart(table, index, startKey, { partition, ...(sort && { sort }) })
  } catch {
    throw invalidToken()
  }
  return [{ ...range, startKey }, ...ranges.slice(at + 1)]
}

export function invalidToken(): Error {
  return validationError('Invalid NextToken')
}
