/**
 * How a request writes its attribute values: plain JavaScript in process, `{ "S": … }` on the wire.
 *
 * Operations decide when values are read, because AWS reports a bad value after bad parameters and
 * before bad expressions.
 */
import { DynamoError, validationError } from '../errors.ts'
import { copiedItem, copiedValue } from './copy.ts'
import { checkedItem, checkedValue } from '../values/plain.ts'
import { type Item, setAttribute, type Value } from '../values/types.ts'
import { fromWire, itemFromWire } from '../values/wire.ts'

export interface Form {
  /** For use in this turn of the event loop. */
  item(attributes: unknown): Item
  /** For use in a later turn. */
  ownItem(attributes: unknown): Item
  ownValue(attribute: unknown): Value
  /** Whether an optional attribute is there: null is a value in process, and none on the wire. */
  isGiven(attribute: unknown): boolean
}

export const plainForm: Form = {
  item: checkedItem,
  ownItem: (attributes) => copiedItem(checkedItem(attributes)),
  ownValue: (attribute) => copiedValue(checkedValue(attribute)),
  isGiven: (attribute) => attribute !== undefined,
}

/** JSON is translated, so that everything read from it is a copy. */
export const wireForm: Form = {
  item: itemFromWire,
  ownItem: itemFromWire,
  ownValue: fromWire,
  isGiven: (attribute) => attribute !== undefined && attribute !== null,
}

/** ExpressionAttributeValues, with AWS's words around what is wrong with one of them. */
export function readExpressionValues(form: Form, values: object): Record<string, Value> {
  const read: Item = {}
  for (const [name, value] of Object.entries(values)) {
    setAttribute(
      read,
      name,
      worded(
        () => form.ownValue(value),
        (reason) => `ExpressionAttributeValues contains invalid value: ${reason} for key ${name}`,
      ),
    )
  }
  return read
}

export function readStartKey(form: Form, key: object): Item {
  return worded(
    () => form.ownItem(key),
    (reason) => `The provided starting key is invalid: ${reason}`,
  )
}

/** Runs `read`; a ValidationException of it gets another text. */
function worded<T>(read: () => T, text: (reason: string) => string): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof DynamoError && error.name === 'ValidationException') {
      throw validationError(text(error.message))
    }
    throw error
  }
}
