/**
 * ItemCollectionMetrics: the item collections (partitions of a table with local indexes) that a write
 * changed. AWS limits a collection to 10 GB and estimates its size. Here there is no limit, and the
 * estimate is always the lowest.
 */
import type { ItemCollectionMetrics } from '../db.ts'
import type { TableRecord } from '../storage/storage.ts'
import { attribute, type Item, type Value } from '../values/types.ts'
import { itemToWire } from '../values/wire.ts'
import { mapped } from './batch-get-item.ts'

type Wanted = 'NONE' | 'SIZE' | undefined
type ByTable = Record<string, ItemCollectionMetrics[]>

/** The ItemCollectionMetrics of a write of one item. */
export function collectionMetrics(
  table: TableRecord,
  item: Item,
  wanted: Wanted,
): { ItemCollectionMetrics?: ItemCollectionMetrics } {
  if (wanted !== 'SIZE' || !table.indexes.some((index) => index.kind === 'local')) return {}
  const { name } = table.keys.partition
  const key: Item = { [name]: attribute(item, name) as Value }
  return { ItemCollectionMetrics: { ItemCollectionKey: key, SizeEstimateRangeGB: [0, 1] } }
}

/** The same for a write of several items: each collection once, by table. */
export function allCollectionMetrics(
  writes: readonly { table: TableRecord; item: Item }[],
  wanted: Wanted,
): { ItemCollectionMetrics?: ByTable } {
  const byTable = new Map<string, Map<string, ItemCollectionMetrics>>()
  for (const { table, item } of writes) {
    const { ItemCollectionMetrics: metrics } = collectionMetrics(table, item, wanted)
    if (!metrics) continue
    const collections = byTable.get(table.name) ?? new Map<string, ItemCollectionMetrics>()
    byTable.set(table.name, collections)
    collections.set(JSON.stringify(itemToWire(metrics.ItemCollectionKey ?? {})), metrics)
  }
  if (byTable.size === 0) return {}
  const entries = [...byTable].map(([name, collections]) => [name, [...collections.values()]])
  return { ItemCollectionMetrics: Object.fromEntries(entries) as ByTable }
}

export function wireMetrics({ ItemCollectionKey, ...rest }: ItemCollectionMetrics): object {
  return { ItemCollectionKey: itemToWire(ItemCollectionKey ?? {}), ...rest }
}

/** The part of a response that `allCollectionMetrics` adds, as JSON. */
export function wireCollections(metrics: ByTable | undefined): object {
  return metrics
    ? { ItemCollectionMetrics: mapped(metrics, (collections) => collections.map(wireMetrics)) }
    : {}
}
