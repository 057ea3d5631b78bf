/** A SELECT of one item by its whole key, as batches and transactions have it. */
import type { Projection } from '../expressions/projection.ts'
import { refusePathsIntoKeys } from '../operations/expression-paths.ts'
import type { Storage, TableRecord } from '../storage/store.ts'
import { checkKey } from '../validation/keys.ts'
import { existingTable } from '../validation/names.ts'
import type { Item } from '../values/types.ts'
import { type Bound, boundWhere } from './bind.ts'
import { oneItem } from './key-values.ts'
import { boundSelection } from './selection.ts'
import type { Select } from './syntax.ts'

export interface OneRead {
  table: TableRecord
  key: Item
  projection: Projection | undefined
}

/** Undefined if the statement could be about several items. */
export function readOne(storage: Storage, body: Select, bound: Bound): OneRead | undefined {
  const where = boundWhere(bound, body.where)
  const projection = boundSelection(bound, body.paths)
  const table = existingTable(storage, body.table)
  refusePathsIntoKeys(table, { condition: where, projection })
  const found = body.index === undefined ? oneItem(table, where) : undefined
  if (!found || found.rest) return undefined
  checkKey(table, found.key)
  return { table, key: found.key, projection }
}
