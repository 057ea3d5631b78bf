/**
 * What Query and Scan have in common: which items one page holds, and where the next one starts.
 *
 * A page ends at Limit items read or with the item that completes 1 MB of them, as an index shows them, and the filter
 * comes after both. Long pages are read in pieces with a turn of the event loop between them, so a
 * page need not be one snapshot; DynamoDB does not promise that either.
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
import { pick, projectedNames } from './index-view.ts'
import type { Context } from './operation.ts'

export const MAX_PAGE_BYTES = 1024 * 1024
/** Few enough to read in some milliseconds; how long a filter takes is up to the request. */
export const ITEMS_PER_TURN = 2000
const FILTER_MS_PER_TURN = 10

export interface PagePlan {
  table: TableRecord
  index: IndexRecord | undefined
  /** Read one after the other; more than one when a statement names several partitions. */
  ranges: readonly RangeQuery[]
  filter: Condition | undefined
  projection: Projection | undefined
  /** What the index shows of an item; undefined for whole items. */
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
  /** What a local index holds, if the request needs more: every item is then read from the table. */
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

  /** Reads until the page ends (true) or this turn's share is used up (false). */
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

/** The index a request names; one that is still being filled cannot be read. */
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

/** Select against ProjectionExpression and IndexName; AWS speaks of querying even when it scans. */
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
 * A query through an index may filter only by what the index projects, also through a local one. A
 * scan may filter by anything: what the index does not project is missing there.
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
 * The attributes a page may show: what the index projects, or undefined for whole items. A local
 * index fetches what it lacks from its table; a global one refuses to be asked for it.
 */
export function requestedNames(
  input: PageInput,
  { table, index, projection }: Pick<PagePlan, 'table' | 'index' | 'projection'>,
): readonly string[] | undefined {
  const names = projectedNames(table, index)
  if (!index || !names) return undefined
  const asked = new Set(projection?.paths.map(([name]) => String(name)))
  const unshown = [...asked].filter((name) => !names.includes(name))
  const everything = input.Select === 'ALL_ATTRIBUTES'
  if (index.kind === 'local') return everything || unshown.length > 0 ? undefined : names
  if (everything) {
    throw invalid(
      `Select type ALL_ATTRIBUTES is not supported for global secondary index ${index.name} because its projection type is not ALL`,
    )
  }
  if (unshown.length > 0) {
    throw invalid(`Global secondary index ${index.name} does not project [${unshown.join(', ')}]`)
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
