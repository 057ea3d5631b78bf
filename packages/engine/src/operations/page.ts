/**
 * The common part of Query and Scan: the items of one page, and where the next page starts.
 *
 * A page ends after Limit items, or with the item that completes 1 MB, both before filtering. Sizes are
 * those of the index's projection. A long page is read in several turns of the event loop, so it may span
 * several snapshots, as in DynamoDB.
 */
import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PageInput, PageOutput } from '../db.ts'
import { validationError } from '../errors.ts'
import type { Condition } from '../expressions/condition.ts'
import { evaluate } from '../expressions/evaluate.ts'
import { type Projection, project } from '../expressions/projection.ts'
import type { IndexRecord, RangeQuery, TableRecord } from '../storage/storage.ts'
import { keyAttributes } from '../validation/keys.ts'
import { itemSize } from '../values/size.ts'
import type { Item } from '../values/types.ts'
import { responseText, itemText } from '../values/wire-text.ts'
import { capacityMeter, readUnits } from './capacity.ts'
import { projectedNames } from '../storage/indexes.ts'
import { pick } from './index-view.ts'
import type { Context } from './operation.ts'

export const MAX_PAGE_BYTES = 1024 * 1024
/** Can be read in a few milliseconds; the time for a filter depends on the request. */
export const ITEMS_PER_TURN = 2000
const FILTER_MS_PER_TURN = 10

export interface PagePlan {
  table: TableRecord
  index: IndexRecord | undefined
  /** Read one after the other; more than one when a statement names several partitions. */
  ranges: readonly RangeQuery[]
  filter: Condition | undefined
  projection: Projection | undefined
  /** The attributes that the index projects; undefined for whole items. */
  shown: readonly string[] | undefined
}

export async function readPage(
  { storage }: Context,
  input: PageInput,
  { table, index, ranges, filter, projection, shown }: PagePlan,
): Promise<PageOutput> {
  const keyNames = pageKeyNames(table, index)
  const limit = Math.floor(input.Limit ?? Infinity)
  const consistent = ranges[0]?.consistent === true
  /** The attributes in a local index, if the request needs others, so that items are read from the table. */
  const held = shown ? undefined : projectedNames(table, index)
  const items: Item[] = []
  const counting = input.Select === 'COUNT'
  let count = 0
  let scanned = 0
  let bytes = 0
  let fetchedUnits = 0
  let last = undefined as Item | undefined
  let more = false as boolean
  let [range, ...later] = ranges
  /** Where this range continues in the next turn. */
  let startKey = range?.startKey

  /** Returns true when the page is complete, and false when this turn of the event loop has read enough. */
  const readTurn = (): boolean => {
    const turnEnd = scanned + ITEMS_PER_TURN
    const filterEnd = filter ? performance.now() + FILTER_MS_PER_TURN : Infinity
    const from = startKey ? { ...range, startKey } : (range ?? {})
    for (const item of storage.range(table, index, from)) {
      const view = pick(shown, item)
      bytes += itemSize(held ? pick(held, item) : view)
      if (held) fetchedUnits += readUnits(itemSize(item), consistent)
      scanned += 1
      last = item
      if (!filter || evaluate(filter, view)) {
        count += 1
        if (!counting) items.push(projection ? project(projection, view) : view)
      }
      more = scanned >= limit || bytes >= MAX_PAGE_BYTES
      if (more) return true
      if (scanned >= turnEnd || (filter && performance.now() > filterEnd)) {
        startKey = pick(keyNames, item)
        return false
      }
    }
    ;[range, ...later] = later
    startKey = range?.startKey
    return range === undefined
  }

  // oxlint-disable-next-line no-await-in-loop -- one turn after the other is the point
  while (!readTurn()) await nextTurn()

  const meter = capacityMeter(input.ReturnConsumedCapacity)
  meter.read(table, index, readUnits(bytes, consistent))
  if (index) meter.read(table, undefined, fetchedUnits)
  const [consumed] = meter.consumed()
  return {
    ...(!counting && { Items: items }),
    Count: count,
    ScannedCount: scanned,
    ...(more && last && { LastEvaluatedKey: pick(keyNames, last) }),
    ...(consumed && { ConsumedCapacity: consumed }),
  }
}

/** The attributes of a start key: the table's, then the index's. */
export function pageKeyNames(table: TableRecord, index: IndexRecord | undefined): string[] {
  const names = keyAttributes(table.keys).map(({ name }) => name)
  for (const { name } of index ? keyAttributes(index.keys) : []) {
    if (!names.includes(name)) names.push(name)
  }
  return names
}

/** The index of a request; an index that is still being filled cannot be read. */
export function requestedIndex(table: TableRecord, input: PageInput): IndexRecord | undefined {
  const { IndexName: name } = input
  if (name === undefined || name === null) return undefined
  const index = table.indexes.find((candidate) => candidate.name === name)
  if (!index) throw validationError(`The table does not have the specified index: ${name}`)
  if (index.kind === 'global' && input.ConsistentRead === true) {
    throw validationError('Consistent reads are not supported on global secondary indexes')
  }
  if (index.status === 'CREATING') {
    throw validationError(`Cannot read from backfilling global secondary index: ${name}`)
  }
  return index
}

/** Checks Select against ProjectionExpression and IndexName; AWS's messages say "query" for scans, too. */
export function checkSelect(input: PageInput): void {
  const projection = projectionParameter(input)
  switch (input.Select) {
    case 'COUNT':
      if (projection) {
        throw validationError(
          `Cannot specify the ${projection} when choosing to get only the Count`,
        )
      }
      return
    case 'ALL_ATTRIBUTES':
    case 'ALL_PROJECTED_ATTRIBUTES':
      if (projection) {
        throw validationError(
          `Cannot specify the ${projection} when choosing to get ${input.Select}`,
        )
      }
      if (input.Select === 'ALL_PROJECTED_ATTRIBUTES' && !input.IndexName) {
        throw validationError(
          'ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName',
        )
      }
      return
    case 'SPECIFIC_ATTRIBUTES':
      if (!projection) {
        throw validationError(
          'Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES',
        )
      }
  }
}

function projectionParameter(input: PageInput): string | undefined {
  if (input.AttributesToGet) return 'AttributesToGet'
  const { ProjectionExpression: text } = input
  return text === undefined || text === null ? undefined : 'ProjectionExpression'
}

/**
 * A query through an index, even a local one, can only filter by projected attributes. A scan can filter
 * by any attribute; those that the index does not project count as missing.
 */
export function rejectUnprojectedFilter(
  { table, index }: Pick<PagePlan, 'table' | 'index'>,
  filterNames: readonly string[],
): void {
  const names = projectedNames(table, index)
  const lacking = names ? filterNames.filter((name) => !names.includes(name)) : []
  if (lacking.length > 0) {
    throw invalid(
      `Secondary index ${index?.name} does not project one or more filter attributes: [${lacking.toSorted().join(', ')}]`,
    )
  }
}

/**
 * The attributes that a page may contain: those that the index projects, or undefined for whole items.
 * Other attributes are read from the table for a local index and rejected for a global one.
 */
export function requestedNames(
  input: PageInput,
  { table, index, projection }: Pick<PagePlan, 'table' | 'index' | 'projection'>,
): readonly string[] | undefined {
  const names = projectedNames(table, index)
  if (!index || !names) return undefined
  const requested = new Set(projection?.paths.map(([name]) => String(name)))
  const unprojected = [...requested].filter((name) => !names.includes(name))
  const everything = input.Select === 'ALL_ATTRIBUTES'
  if (index.kind === 'local') return everything || unprojected.length > 0 ? undefined : names
  if (everything) {
    throw invalid(
      `Select type ALL_ATTRIBUTES is not supported for global secondary index ${index.name} because its projection type is not ALL`,
    )
  }
  if (unprojected.length > 0) {
    throw invalid(
      `Global secondary index ${index.name} does not project [${unprojected.join(', ')}]`,
    )
  }
  return names
}

function invalid(reason: string): Error {
  return validationError(`One or more parameter values were invalid: ${reason}`)
}

export function pageText({ Items, LastEvaluatedKey, ...rest }: PageOutput): string {
  const texts = {
    Items: Items && `[${Items.map(itemText).join(',')}]`,
    LastEvaluatedKey: LastEvaluatedKey && itemText(LastEvaluatedKey),
  }
  return responseText(texts, rest)
}
