/**
 * BatchWriteItem: up to 25 puts and deletes. Unlike in AWS they are one transaction, so either all of
 * them happen or none, and there are never unprocessed items.
 */
import type { BatchWriteItemInput, BatchWriteItemOutput, WriteRequest } from '../db.ts'
import { validationError } from '../errors.ts'
import type { TableRecord } from '../storage/storage.ts'
import {
  checkIndexKeys,
  checkKeySchema,
  keyOf,
  rejectEmptyIndexKeys,
  rejectEmptyKeys,
} from '../validation/keys.ts'
import { existingTable } from '../validation/names.ts'
import {
  attributes,
  list,
  map,
  returnConsumedCapacity,
  returnItemCollectionMetrics,
  structure,
  tableNames,
} from '../validation/shapes.ts'
import type { Item } from '../values/types.ts'
import { itemToWire } from '../values/wire.ts'
import { mapped } from './batch-get-item.ts'
import { capacityMeter, isMetered } from './capacity.ts'
import type { Form } from './form.ts'
import { allCollectionMetrics, wireCollections } from './item-collections.ts'
import { keyIdentity } from './key-identity.ts'
import type { Operation } from './operation.ts'
import { checkItemSize } from './write.ts'

const MAX_REQUESTS = 25

type Write = { item: Item } | { key: Item }

export const batchWriteItem: Operation<BatchWriteItemInput, BatchWriteItemOutput> = {
  name: 'BatchWriteItem',
  input: structure('BatchWriteItemInput', {
    ReturnConsumedCapacity: returnConsumedCapacity,
    ReturnItemCollectionMetrics: returnItemCollectionMetrics,
    'RequestItems!': map(
      list(
        structure('WriteRequest', {
          PutRequest: structure('PutRequest', { 'Item!': attributes }),
          DeleteRequest: structure('DeleteRequest', { 'Key!': attributes }),
        }),
        { min: 0 },
      ),
      { keys: tableNames, values: { min: 1, max: MAX_REQUESTS } },
    ),
  }),

  async run({ storage }, input, form) {
    if (Object.keys(input.RequestItems).length === 0) {
      throw validationError('The requestItems parameter is required for BatchWriteItem')
    }
    const read = Object.entries(input.RequestItems).map(([name, writes]) => ({
      name,
      writes: writes.map((write) => readWrite(write, form)),
    }))
    if (read.reduce((sum, { writes }) => sum + writes.length, 0) > MAX_REQUESTS) {
      throw validationError('Too many items requested for the BatchWriteItem call')
    }
    const plans = read.map(({ name, writes }) => {
      const table = existingTable(storage, name)
      for (const write of writes) checkWrite(table, write)
      const identities = writes.map((write) =>
        keyIdentity(table, 'item' in write ? write.item : write.key),
      )
      if (new Set(identities).size < identities.length) {
        throw validationError('Provided list of item keys contains duplicates')
      }
      return { table, writes }
    })

    const meter = capacityMeter(input.ReturnConsumedCapacity)
    const metered = isMetered(input.ReturnConsumedCapacity)
    await storage.write((tx) => {
      for (const { table, writes } of plans) {
        for (const write of writes) {
          const item = 'item' in write ? write.item : undefined
          if (item && !metered) {
            tx.overwrite(table, item)
            continue
          }
          const key = 'item' in write ? keyOf(table, write.item) : write.key
          const old = tx.get(table, key, metered ? undefined : [])
          if (item) tx.put(table, item, old)
          else if (old) tx.delete(table, old)
          meter.write(table, old, item)
        }
      }
    })
    const consumed = meter.consumed()
    return {
      UnprocessedItems: {},
      ...(consumed.length > 0 && { ConsumedCapacity: consumed }),
      ...allCollectionMetrics(
        plans.flatMap(({ table, writes }) =>
          writes.map((write) => ({ table, item: 'item' in write ? write.item : write.key })),
        ),
        input.ReturnItemCollectionMetrics,
      ),
    }
  },

  toResponse: ({ UnprocessedItems, ItemCollectionMetrics, ...rest }) => ({
    UnprocessedItems: mapped(UnprocessedItems ?? {}, (writes) => writes.map(wireWrite)),
    ...rest,
    ...wireCollections(ItemCollectionMetrics),
  }),
}

function readWrite({ PutRequest, DeleteRequest }: WriteRequest, form: Form): Write {
  if (!PutRequest === !DeleteRequest) {
    // AWS has the same message for a request that is neither.
    throw validationError(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    )
  }
  if (DeleteRequest) return { key: form.ownItem(DeleteRequest.Key) }
  const item = form.ownItem(PutRequest?.Item)
  checkItemSize(item)
  return { item }
}

/** Unlike PutItem, an invalid key of an item is reported like an invalid Key parameter. */
function checkWrite(table: TableRecord, write: Write): void {
  if ('key' in write) {
    rejectEmptyKeys(table, write.key)
    checkKeySchema(table, write.key)
    return
  }
  rejectEmptyKeys(table, write.item)
  rejectEmptyIndexKeys(table, write.item)
  checkKeySchema(table, keyOf(table, write.item))
  checkIndexKeys(table, write.item)
}

function wireWrite({ PutRequest, DeleteRequest }: WriteRequest): object {
  return {
    ...(PutRequest && { PutRequest: { Item: itemToWire(PutRequest.Item) } }),
    ...(DeleteRequest && { DeleteRequest: { Key: itemToWire(DeleteRequest.Key) } }),
  }
}
