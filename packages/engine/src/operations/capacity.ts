/**
 * Capacity units as AWS counts them. Reads count per 4 KB, half of that if eventually consistent. Writes
 * count per 1 KB of the larger of old and new item. An index counts changes of its projection.
 * Transactions count twice.
 */
import type { IndexRecord, TableRecord } from '../storage/storage.ts'
import { equal } from '../values/compare.ts'
import { itemSize } from '../values/size.ts'
import { attribute, type Item } from '../values/types.ts'
import { keyAttributes } from '../validation/keys.ts'
import type { ConsumedCapacity } from '../db.ts'
import { hasEntry, projectedNames } from '../storage/indexes.ts'
import { pick } from './index-view.ts'

type CapacityDetail = 'NONE' | 'TOTAL' | 'INDEXES'

export function readUnits(bytes: number, consistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / 4096)) * (consistent ? 1 : 0.5)
}

function writeUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 1024))
}

function sizeOf(item: Item | undefined): number {
  return item ? itemSize(item) : 0
}

/** Sums the consumption of one request by table. */
export interface CapacityMeter {
  read(table: TableRecord, index: IndexRecord | undefined, units: number): void
  write(table: TableRecord, old: Item | undefined, item: Item | undefined): void
  /** In the order in which tables were first used. */
  consumed(): ConsumedCapacity[]
}

interface Usage {
  table: number
  indexes: Map<string, number>
  kinds: Map<string, IndexRecord['kind']>
}

/** Whether a request asks for its consumed capacity. */
export function isMetered(
  detail: CapacityDetail | null | undefined,
): detail is 'TOTAL' | 'INDEXES' {
  return detail === 'TOTAL' || detail === 'INDEXES'
}

const noMeter: CapacityMeter = { read() {}, write() {}, consumed: () => [] }

/** Capacity is counted only if the request asks for it. */
export function capacityMeter(
  detail: CapacityDetail | undefined,
  transaction?: 'read' | 'write',
): CapacityMeter {
  if (!isMetered(detail)) return noMeter
  const used = new Map<string, Usage>()
  const factor = transaction ? 2 : 1
  const usageOf = (table: TableRecord) => {
    let usage = used.get(table.name)
    if (!usage) used.set(table.name, (usage = { table: 0, indexes: new Map(), kinds: new Map() }))
    return usage
  }
  const add = ({ indexes, kinds }: Usage, { name, kind }: IndexRecord, units: number) => {
    indexes.set(name, (indexes.get(name) ?? 0) + units)
    kinds.set(name, kind)
  }
  return {
    read(table, index, units) {
      const usage = usageOf(table)
      if (index) add(usage, index, units * factor)
      else usage.table += units * factor
    },
    write(table, old, item) {
      const usage = usageOf(table)
      usage.table += writeUnits(Math.max(sizeOf(old), sizeOf(item))) * factor
      for (const index of table.indexes) {
        const units = indexWriteUnits(table, index, old, item) * factor
        if (units > 0) add(usage, index, units)
      }
    },
    consumed() {
      return [...used].map(([name, usage]) => report(name, usage, detail, transaction))
    },
  }
}

function report(
  name: string,
  usage: Usage,
  detail: 'TOTAL' | 'INDEXES',
  transaction: 'read' | 'write' | undefined,
): ConsumedCapacity {
  const units = (count: number) => ({
    CapacityUnits: count,
    ...(transaction === 'read' && { ReadCapacityUnits: count }),
    ...(transaction === 'write' && { WriteCapacityUnits: count }),
  })
  let total = usage.table
  for (const count of usage.indexes.values()) total += count
  if (detail === 'TOTAL') return { TableName: name, ...units(total) }
  const arm = (kind: IndexRecord['kind']) => {
    const used = [...usage.indexes].filter(([index]) => usage.kinds.get(index) === kind)
    return (
      used.length > 0 && Object.fromEntries(used.map(([index, count]) => [index, units(count)]))
    )
  }
  const global = arm('global')
  const local = arm('local')
  return {
    TableName: name,
    ...units(total),
    Table: units(usage.table),
    ...(global && { GlobalSecondaryIndexes: global }),
    ...(local && { LocalSecondaryIndexes: local }),
  }
}

/** A change outside the projection costs nothing; a changed key counts as a delete and an insert. */
function indexWriteUnits(
  table: TableRecord,
  index: IndexRecord,
  old: Item | undefined,
  item: Item | undefined,
): number {
  const names = projectedNames(table, index)
  const before = old && hasEntry(index, old) ? pick(names, old) : undefined
  const after = item && hasEntry(index, item) ? pick(names, item) : undefined
  if (!before && !after) return 0
  if (!before || !after) return writeUnits(Math.max(sizeOf(before), sizeOf(after)))
  const sameKey = keyAttributes(index.keys).every(({ name }) => {
    const left = attribute(before, name)
    const right = attribute(after, name)
    return left !== undefined && right !== undefined && equal(left, right)
  })
  if (!sameKey) return writeUnits(sizeOf(before)) + writeUnits(sizeOf(after))
  return equal(before, after) ? 0 : writeUnits(Math.max(sizeOf(before), sizeOf(after)))
}
