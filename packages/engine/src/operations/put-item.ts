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
  tableNameOfWrite,
} from '../validation/shapes.ts'
import { itemToWire } from '../values/wire.ts'
import { capacityMeter, isMetered } from './capacity.ts'
import { expressionAttributes, rejectPathsIntoKeys } from './expressions.ts'
import { readPlaceholders } from './form.ts'
import { collectionMetrics, wireMetrics } from './item-collections.ts'
import type { Operation } from './operation.ts'
import {
  assertCondition,
  checked,
  checkItemSize,
  readCondition,
  singleConsumption,
} from './write.ts'

export const returnValues = {
  ...oneOf('ALL_NEW', 'UPDATED_OLD', 'ALL_OLD', 'NONE', 'UPDATED_NEW'),
  // With AWS's mistake in the last name but one.
  newerText:
    'Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]',
}

export const putItem: Operation<PutItemInput, WriteOutput> = {
  name: 'PutItem',
  input: structure(
    'PutItemInput',
    {
      ReturnConsumedCapacity: returnConsumedCapacity,
      'TableName!': tableNameOfWrite,
      'Item!': attributes,
      ReturnValues: returnValues,
      ReturnItemCollectionMetrics: returnItemCollectionMetrics,
      ConditionalOperator: legacy.ConditionalOperator,
      Expected: legacy.Expected,
      ConditionExpression: string(),
      ReturnValuesOnConditionCheckFailure: returnOnFailure,
      ExpressionAttributeValues: attributes,
      ExpressionAttributeNames: expressionNames,
    },
    ['TableName'],
  ),

  async run({ storage }, input, form) {
    const item = checked(() => {
      checkExpressionParameters(
        input,
        ['ConditionExpression'],
        ['Expected', 'ConditionalOperator'],
        false,
      )
      checkReturnValues(input.ReturnValues)
      return form.ownItem(input.Item)
    })
    checkItemSize(item)
    const condition = checked(() => {
      const placeholders = readPlaceholders(input, form, false)
      const read = readCondition(input, placeholders, form)
      placeholders.assertAllUsed()
      return read
    })
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
    const only = showsOldItem(input) ? undefined : expressionAttributes({ condition })
    const old = await storage.write((tx) => {
      const current = tx.get(table, key, only)
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

/** Whether the response depends on attributes of the old item that the condition does not name. */
export function showsOldItem(
  input: Pick<
    PutItemInput,
    'ReturnValues' | 'ReturnValuesOnConditionCheckFailure' | 'ReturnConsumedCapacity'
  >,
): boolean {
  return (
    input.ReturnValues === 'ALL_OLD' ||
    input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' ||
    isMetered(input.ReturnConsumedCapacity)
  )
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
