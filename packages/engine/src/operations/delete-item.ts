/** DeleteItem: deletes an item, if it exists. */
import type { DeleteItemInput, WriteOutput } from '../db.ts'
import { checkKey } from '../validation/keys.ts'
import { existingTable } from '../validation/names.ts'
import { checkExpressionParameters } from '../validation/parameters.ts'
import {
  attributes,
  expressionNames,
  legacy,
  returnConsumedCapacity,
  returnItemCollectionMetrics,
  returnOnFailure,
  string,
  structure,
  tableNameOfWrite,
} from '../validation/shapes.ts'
import { capacityMeter } from './capacity.ts'
import { expressionAttributes, rejectPathsIntoKeys } from './expressions.ts'
import { readPlaceholders } from './form.ts'
import { collectionMetrics } from './item-collections.ts'
import type { Operation } from './operation.ts'
import { checkReturnValues, returnValues, showsOldItem, writeResponse } from './put-item.ts'
import { assertCondition, checked, readCondition, singleConsumption } from './write.ts'

export const deleteItem: Operation<DeleteItemInput, WriteOutput> = {
  name: 'DeleteItem',
  input: structure(
    'DeleteItemInput',
    {
      ReturnConsumedCapacity: returnConsumedCapacity,
      'TableName!': tableNameOfWrite,
      ReturnValues: returnValues,
      ReturnItemCollectionMetrics: returnItemCollectionMetrics,
      'Key!': attributes,
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
    const { key, condition } = checked(() => {
      checkExpressionParameters(input, ['ConditionExpression'], ['Expected', 'ConditionalOperator'])
      checkReturnValues(input.ReturnValues)
      const read = form.ownItem(input.Key)
      const placeholders = readPlaceholders(input, form, false)
      const parsed = readCondition(input, placeholders, form)
      placeholders.assertAllUsed()
      return { key: read, condition: parsed }
    })
    const table = existingTable(storage, input.TableName)
    rejectPathsIntoKeys(table, { condition })
    checkKey(table, key)

    const meter = capacityMeter(input.ReturnConsumedCapacity)
    const only = showsOldItem(input) ? undefined : expressionAttributes({ condition })
    const old = await storage.write((tx) => {
      const current = tx.get(table, key, only)
      assertCondition(condition, current, input.ReturnValuesOnConditionCheckFailure)
      if (current) tx.delete(table, current)
      meter.write(table, current, undefined)
      return current
    })
    const wantsOld = input.ReturnValues === 'ALL_OLD'
    return {
      ...(wantsOld && old && { Attributes: old }),
      ...singleConsumption(meter),
      ...collectionMetrics(table, key, input.ReturnItemCollectionMetrics),
    }
  },

  toResponse: writeResponse,
}
