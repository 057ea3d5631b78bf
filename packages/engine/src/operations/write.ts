/**
 * What PutItem, UpdateItem, DeleteItem and the actions of a transaction have in common: a condition,
 * and a decision on the old item that is made inside the write transaction.
 */
import type { ConsumedCapacity, PutItemInput } from '../db.ts'
import { conditionalCheckFailed, DynamoError, validationError } from '../errors.ts'
import { type Condition, parseCondition } from '../expressions/condition.ts'
import { evaluate } from '../expressions/evaluate.ts'
import type { Placeholders } from '../expressions/placeholders.ts'
import { updatedItemTooLarge } from '../expressions/update.ts'
import { isWithin, MAX_ITEM_BYTES } from '../values/size.ts'
import type { Item } from '../values/types.ts'
import type { CapacityMeter } from './capacity.ts'
import type { Form } from './form.ts'
import { readExpected } from './legacy-conditions.ts'

type Conditional = Pick<PutItemInput, 'ConditionExpression' | 'Expected' | 'ConditionalOperator'>

/** AWS reports these without the prefix. */
const WITHOUT_PREFIX =
  /^(?:ExpressionAttributeValues contains invalid value: )?Supplied AttributeValue /

/**
 * Runs the checks of PutItem, UpdateItem or DeleteItem that need no table; AWS's errors of these three
 * have a prefix that other operations do not have.
 */
export function checked<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    const isPrefixed =
      error instanceof DynamoError &&
      error.name === 'ValidationException' &&
      !WITHOUT_PREFIX.test(error.message)
    throw isPrefixed ? validationError(`1 validation error detected: ${error.message}`) : error
  }
}

export function checkItemSize(item: Item): void {
  if (!isWithin(item, MAX_ITEM_BYTES)) {
    throw validationError('Item size has exceeded the maximum allowed size')
  }
}

/** `omittedSize` is the size of attributes that are not in `item`. */
export function checkUpdatedItemSize(item: Item, omittedSize: number): void {
  if (!isWithin(item, MAX_ITEM_BYTES - omittedSize)) throw updatedItemTooLarge()
}

/** The condition of a write, in either of the two ways to say it. */
export function readCondition(
  input: Conditional,
  placeholders: Placeholders,
  form: Form,
): Condition | undefined {
  const { ConditionExpression: text, Expected, ConditionalOperator } = input
  if (text !== undefined && text !== null) {
    return parseCondition(text, 'ConditionExpression', placeholders)
  }
  if (!Expected && !ConditionalOperator) return undefined
  return readExpected(form, Expected, ConditionalOperator)
}

/** Throws ConditionalCheckFailedException, with the old item if the request wants to see it. */
export function assertCondition(
  condition: Condition | undefined,
  old: Item | undefined,
  onFailure: 'NONE' | 'ALL_OLD' | undefined,
): void {
  if (!condition || evaluate(condition, old)) return
  throw conditionalCheckFailed(onFailure === 'ALL_OLD' ? old : undefined)
}

/** The capacity of a request that touches one table. */
export function singleConsumption(meter: CapacityMeter): { ConsumedCapacity?: ConsumedCapacity } {
  const [consumed] = meter.consumed()
  return consumed ? { ConsumedCapacity: consumed } : {}
}
