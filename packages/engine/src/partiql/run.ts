/** Executes one statement that writes; returns what its RETURNING clause asks for. */
import type { ConsumedCapacity } from '../db.ts'
import type { Projection } from '../expressions/projection.ts'
import { capacityMeter } from '../operations/capacity.ts'
import { rejectPathsIntoKeys } from '../operations/expressions.ts'
import type { Context } from '../operations/operation.ts'
import { returnedAttributes } from '../operations/update-item.ts'
import { singleConsumption } from '../operations/write.ts'
import type { Storage, TableRecord } from '../storage/storage.ts'
import { checkKey } from '../validation/keys.ts'
import { existingTable } from '../validation/names.ts'
import type { Item } from '../values/types.ts'
import { oneItem } from './key-values.ts'
import { bindSelection } from './selection.ts'
import { type Bound, bindWhere } from './statement.ts'
import type { Returning, Select } from './syntax.ts'
import type { WriteAction } from './write-action.ts'

interface Outcome {
  Item?: Item
  ConsumedCapacity?: ConsumedCapacity
}

export async function runWrite(
  { storage }: Context,
  { action, update }: WriteAction,
  returning: Returning | undefined,
  detail: 'NONE' | 'TOTAL' | 'INDEXES' | undefined,
): Promise<Outcome> {
  action.refuseEmptyKeys()
  action.check()
  const meter = capacityMeter(detail)
  const { old, item } = await storage.write((tx) => {
    const current = tx.get(action.table, action.key)
    const next = action.decide(tx, current)
    action.write(tx, current, next)
    meter.write(action.table, current, next)
    return { old: current, item: next }
  })
  const shown = item ? returnedAttributes(returning, update, old, item) : returning && old
  return { ...(shown && { Item: shown }), ...singleConsumption(meter) }
}

// A SELECT of one item by its full key, as used in batches and transactions.

export interface OneRead {
  table: TableRecord
  key: Item
  projection: Projection | undefined
}

/** Undefined if the statement could match several items. */
export function readOne(storage: Storage, body: Select, bound: Bound): OneRead | undefined {
  const where = bindWhere(bound, body.where)
  const projection = bindSelection(bound, body.paths)
  const table = existingTable(storage, body.table)
  rejectPathsIntoKeys(table, { condition: where, projection })
  const found = body.index === undefined ? oneItem(table, where) : undefined
  if (!found || found.rest) return undefined
  checkKey(table, found.key)
  return { table, key: found.key, projection }
}
