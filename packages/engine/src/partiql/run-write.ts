/** Executes one statement that writes, and tells what its RETURNING clause shows. */
import type { ConsumedCapacity } from '../db.ts'
import { capacityMeter } from '../operations/capacity.ts'
import type { Context } from '../operations/operation.ts'
import { returned } from '../operations/update-item.ts'
import { singleConsumption } from '../operations/write.ts'
import type { Item } from '../values/types.ts'
import type { Returning } from './syntax.ts'
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
    const next = action.decide(current)
    action.write(tx, current, next)
    meter.write(action.table, current, next)
    return { old: current, item: next }
  })
  const shown = item ? returned(returning, update, old, item) : returning && old
  return { ...(shown && { Item: shown }), ...singleConsumption(meter) }
}
