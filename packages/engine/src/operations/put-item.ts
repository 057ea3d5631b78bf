/** PutItem: creates or replaces an item. */
import type { PutItemInput, WriteOutput } from '../db.ts'
import { validationError } from '../errors.ts'
import { checkItem, keyOf } from '../validation/keys.ts'
import { existingTable } from '../validation/names.ts'
import { checkExpressionParameters } from '../validation/parameters.ts'
import {
  attributes,
  expressionNames,
  legacy,
  oneOf,
  returnConsumedCapacity,
  returnItemCollectionMetrics,
  returnOnFailure,
  string,
  structure,
  tableName,
} from '../validation/shapes.ts'
import { itemToWire } from '../values/wire.ts'
import { capacityMeter, isMetered } from './capacity.ts'
import { rejectPathsIntoKeys } from './expressions.ts'
import { readPlaceholders } from './form.ts'
import { collectionMetrics, wireMetrics } from './item-collections.ts'
import type { Operation } from './operation.ts'
import { assertCondition, checkItemSize, readCondition, singleConsumption } from './write.ts'

export const returnValues = oneOf('ALL_NEW', 'UPDATED_OLD', 'ALL_OLD', 'NONE', 'UPDATED_NEW')

export const putItem: Operation<PutItemInput, WriteOutput> = {
  name: 'PutItem',
  input: structure('PutItemInput', {
    ReturnConsumedCapacity: returnConsumedCapacity,
    'TableName!': tableName,
    'Item!': attributes,
    ReturnValues: returnValues,
    ReturnItemCollectionMetrics: returnItemCollectionMetrics,
    ConditionalOperator: legacy.ConditionalOperator,
    Expected: legacy.Expected,
    ConditionExpression: string(),
    ReturnValuesOnConditionCheckFailure: returnOnFailure,
    ExpressionAttributeValues: attributes,
    ExpressionAttributeNames: expressionNames,
  }),

  async run({ storage }, input, form) {
    checkExpressionParameters(input, ['ConditionExpression'], ['Expected', 'ConditionalOperator'])
    checkReturnValues(input.ReturnValues)
    const item = form.ownItem(input.Item)
    checkItemSize(item)
    const placeholders = readPlaceholders(input, form)
    const condition = readCondition(input, placeholders, form)
    placeholders.assertAllUsed()
    const table = existingTable(storage, input.TableName)
    rejectPathsIntoKeys(table, { condition })
    checkItem(table, item)

    const wantsOld = input.ReturnValues === 'ALL_OLD'
    if (!condition && !wantsOld && !isMetered(input.ReturnConsumedCapacity)) {
      await storage.overwrite(table, item)
      return collectionMetrics(table, item, input.ReturnItemCollectionMetrics)
    }

    const meter = capacityMeter(input.ReturnConsumedCapacity)
    const key = keyOf(table, item)
    const old = await storage.write((tx) => {
      const current = tx.get(table, key)
      assertCondition(condition, current, input.ReturnValuesOnConditionCheckFailure)
      tx.put(table, item, current)
      meter.write(table, current, item)
      return current
    })
    return {
      ...(wantsOld && old && { Attributes: old }),
      ...singleConsumption(meter),
      ...collectionMetrics(table, item, input.ReturnItemCollectionMetrics),
    }
  },

  toResponse: writeResponse,
}

/** Put and delete can only return the old item. */
export function checkReturnValues(value: string | undefined): void {
  if (value !== undefined && value !== null && value !== 'NONE' && value !== 'ALL_OLD') {
    throw validationError('ReturnValues can only be ALL_OLD or NONE')
  }
}

export function writeResponse(output: WriteOutput): object {
  const { Attributes, ItemCollectionMetrics: metrics, ...rest } = output
  return {
    ...(Attributes && { Attributes: itemToWire(Attributes) }),
    ...rest,
    ...(metrics && { ItemCollectionMetrics: wireMetrics(metrics) }),
  }
}
