/** TransactGetItems: up to 100 items by key, all from one moment. */
import type { ConsumedCapacity, TransactGetItemsInput, TransactGetItemsOutput } from '../db.ts'
import { transactionCanceled, validationError } from '../errors.ts'
import { project } from '../expressions/projection.ts'
import { checkKeySchema, rejectEmptyKeys } from '../validation/keys.ts'
import { existingTable } from '../validation/names.ts'
import { checkExpressionParameters } from '../validation/parameters.ts'
import {
  attributes,
  expressionNames,
  list,
  returnConsumedCapacity,
  string,
  structure,
  tableName,
} from '../validation/shapes.ts'
import type { TableRecord } from '../storage/storage.ts'
import { itemSize } from '../values/size.ts'
import type { Item } from '../values/types.ts'
import { itemToWire } from '../values/wire.ts'
import { capacityMeter, readUnits } from './capacity.ts'
import { rejectPathsIntoKeys } from './expressions.ts'
import { readProjection } from './get-item.ts'
import { keyIdentity } from './key-identity.ts'
import type { Context, Operation } from './operation.ts'
import { assertNoReasons, MAX_ACTIONS, MAX_TRANSACTION_BYTES, reasonOf } from './transaction.ts'

export const transactGetItems: Operation<TransactGetItemsInput, TransactGetItemsOutput> = {
  name: 'TransactGetItems',
  input: structure('TransactGetItemsInput', {
    'TransactItems!': list(
      structure('TransactGetItem', {
        'Get!': structure('Get', {
          'Key!': attributes,
          'TableName!': tableName,
          ProjectionExpression: string(),
          ExpressionAttributeNames: expressionNames,
        }),
      }),
      { min: 1, max: MAX_ACTIONS },
    ),
    ReturnConsumedCapacity: returnConsumedCapacity,
  }),

  run(context, input, form) {
    const { storage } = context
    const gets = input.TransactItems.map(({ Get }) => {
      checkExpressionParameters(Get, ['ProjectionExpression'], [])
      const key = form.item(Get.Key)
      return { name: Get.TableName, key, projection: readProjection(Get, form) }
    })
    const plans = gets.map((get) => ({ ...get, table: existingTable(storage, get.name) }))
    for (const { table, key } of plans) rejectEmptyKeys(table, key)
    assertNoReasons(
      plans.map(({ table, key, projection }) =>
        reasonOf(() => {
          rejectPathsIntoKeys(table, { projection })
          checkKeySchema(table, key)
        }),
      ),
    )
    const { items, consumed } = readTogether(context, plans, input.ReturnConsumedCapacity)
    const responses = plans.map(({ projection }, at) => {
      const item = items[at]
      if (!item) return {}
      return { Item: projection ? project(projection, item) : item }
    })
    return { Responses: responses, ...(consumed.length > 0 && { ConsumedCapacity: consumed }) }
  },

  toResponse: ({ Responses, ...rest }) => ({
    ...rest,
    Responses: Responses?.map(({ Item }) => (Item ? { Item: itemToWire(Item) } : {})),
  }),
}

/** Reads the items of valid keys from one snapshot. */
export function readTogether(
  { storage }: Context,
  keys: readonly { table: TableRecord; key: Item }[],
  detail: TransactGetItemsInput['ReturnConsumedCapacity'],
): { items: (Item | undefined)[]; consumed: ConsumedCapacity[] } {
  const identities = keys.map(({ table, key }) => keyIdentity(table, key))
  if (new Set(identities).size < identities.length) {
    throw validationError('Transaction request cannot include multiple operations on one item')
  }
  const meter = capacityMeter(detail, 'read')
  let bytes = 0
  const items = storage.getTogether(keys)
  for (const [at, { table }] of keys.entries()) {
    const item = items[at]
    const size = item ? itemSize(item) : 0
    bytes += size
    meter.read(table, undefined, readUnits(size, true))
  }
  if (bytes > MAX_TRANSACTION_BYTES) {
    const reason = {
      Code: 'ValidationError',
      Message: 'Transaction payload size cannot exceed 4MB',
    }
    throw transactionCanceled(keys.map(() => reason))
  }
  return { items, consumed: meter.consumed() }
}
