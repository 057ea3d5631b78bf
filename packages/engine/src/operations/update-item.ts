/** UpdateItem: updates an item, or creates it unless the update only removes. */
import type { UpdateItemInput, WriteOutput } from '../db.ts'
import { validationError } from '../errors.ts'
import type { Placeholders } from '../expressions/placeholders.ts'
import {
  applyUpdate,
  onlyRemoves,
  parseUpdate,
  type Update,
  updatedAttributes,
  updateTargets,
} from '../expressions/update.ts'
import type { TableRecord, WriteTx } from '../storage/storage.ts'
import type { Item } from '../values/types.ts'
import { checkIndexKeys, checkKey, rejectEmptyUpdatedIndexKeys } from '../validation/keys.ts'
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
import { capacityMeter, isMetered } from './capacity.ts'
import { expressionAttributes, rejectPathsIntoKeys } from './expressions.ts'
import { type Form, readPlaceholders } from './form.ts'
import { readAttributeUpdates } from './legacy-updates.ts'
import { collectionMetrics } from './item-collections.ts'
import type { Operation } from './operation.ts'
import { returnValues, writeResponse } from './put-item.ts'
import {
  assertCondition,
  checked,
  checkUpdatedItemSize,
  readCondition,
  singleConsumption,
} from './write.ts'

export const updateItem: Operation<UpdateItemInput, WriteOutput> = {
  name: 'UpdateItem',
  input: structure(
    'UpdateItemInput',
    {
      ReturnConsumedCapacity: returnConsumedCapacity,
      'TableName!': tableNameOfWrite,
      ReturnItemCollectionMetrics: returnItemCollectionMetrics,
      ReturnValues: returnValues,
      'Key!': attributes,
      ConditionalOperator: legacy.ConditionalOperator,
      Expected: legacy.Expected,
      AttributeUpdates: legacy.AttributeUpdates,
      ConditionExpression: string(),
      ReturnValuesOnConditionCheckFailure: returnOnFailure,
      UpdateExpression: string(),
      ExpressionAttributeValues: attributes,
      ExpressionAttributeNames: expressionNames,
    },
    ['TableName', 'ReturnValues'],
  ),

  async run({ storage }, input, form) {
    const { key, update, condition } = checked(() => readRequest(input, form))
    const table = existingTable(storage, input.TableName)
    checkTargets(table, update)
    rejectPathsIntoKeys(table, { condition, update })
    checkKey(table, key)

    const meter = capacityMeter(input.ReturnConsumedCapacity)
    const only = showsWholeItems(input) ? undefined : expressionAttributes({ condition, update })
    const { old, item } = await storage.write((tx) => {
      const current = tx.get(table, key, only)
      assertCondition(condition, current, input.ReturnValuesOnConditionCheckFailure)
      const next = updatedItem(table, update, { old: current, key, tx })
      if (next && current) tx.update(table, next, current)
      else if (next) tx.put(table, next, undefined)
      meter.write(table, current, next)
      return { old: current, item: next }
    })
    const shown = returnedAttributes(input.ReturnValues, update, old, item)
    return {
      ...(shown && { Attributes: shown }),
      ...singleConsumption(meter),
      ...collectionMetrics(table, key, input.ReturnItemCollectionMetrics),
    }
  },

  toResponse: writeResponse,
}

function readRequest(input: UpdateItemInput, form: Form) {
  checkExpressionParameters(
    input,
    ['UpdateExpression', 'ConditionExpression'],
    ['AttributeUpdates', 'Expected', 'ConditionalOperator'],
  )
  const key = form.ownItem(input.Key)
  const placeholders = readPlaceholders(input, form, false)
  const update = input.AttributeUpdates
    ? readAttributeUpdates(form, input.AttributeUpdates)
    : readUpdate(input.UpdateExpression, placeholders)
  const condition = readCondition(input, placeholders, form)
  placeholders.assertAllUsed()
  return { key, update, condition }
}

/** Whether the response depends on attributes that the expressions do not name. */
function showsWholeItems(input: UpdateItemInput): boolean {
  return (
    input.ReturnValues === 'ALL_OLD' ||
    input.ReturnValues === 'ALL_NEW' ||
    input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' ||
    isMetered(input.ReturnConsumedCapacity)
  )
}

export function readUpdate(
  text: string | null | undefined,
  placeholders: Placeholders,
): Update | undefined {
  return text === undefined || text === null ? undefined : parseUpdate(text, placeholders)
}

/** Rejects updates of key attributes, before the item is read. */
export function checkTargets(table: TableRecord, update: Update | undefined): void {
  if (!update) return
  const { partition, sort } = table.keys
  for (const name of updateTargets(update)) {
    if (name === partition.name || name === sort?.name) {
      throw validationError(
        `One or more parameter values were invalid: Cannot update attribute ${name}. This attribute is part of the key`,
      )
    }
  }
}

/**
 * The item after the update; throws if the table cannot store it. As in AWS, an update that only removes
 * does not create a missing item, and its paths may then lead nowhere.
 */
export function updatedItem(
  table: TableRecord,
  update: Update | undefined,
  { old, key, tx }: { old: Item | undefined; key: Item; tx: WriteTx },
): Item | undefined {
  if (!update) return old ?? key
  if (!old && onlyRemoves(update)) return undefined
  const next = applyUpdate(update, old ?? key).item
  if (table.indexes.length > 0) {
    rejectEmptyUpdatedIndexKeys(table, next)
    checkIndexKeys(table, next)
  }
  checkUpdatedItemSize(next, old ? tx.omittedSize(old) : 0)
  return next
}

export function returnedAttributes(
  wanted: UpdateItemInput['ReturnValues'],
  update: Update | undefined,
  old: Item | undefined,
  item: Item | undefined,
): Item | undefined {
  switch (wanted) {
    case 'ALL_OLD':
      return old
    case 'ALL_NEW':
      return item
    case 'UPDATED_OLD':
      return old && update && unlessEmpty(updatedAttributes(update, old))
    case 'UPDATED_NEW':
      return item && update && unlessEmpty(updatedAttributes(update, item))
    default:
      return undefined
  }
}

function unlessEmpty(item: Item): Item | undefined {
  return Object.keys(item).length > 0 ? item : undefined
}
