/**
 * How a request writes its attribute values: plain JavaScript in process, `{ "S": … }` on the wire.
 *
 * Operations decide when values are read, because AWS reports a bad value after bad parameters and
 * before bad expressions.
 */
import { DynamoError, validationError } from '../errors.ts'
import {
  checkValueKeys,
  createPlaceholders,
  type Placeholders,
} from '../expressions/placeholders.ts'
import { validateItem, validateValue } from '../values/plain.ts'
import { type Item, setAttribute, type Value, isMap, type SetValue } from '../values/types.ts'
import { fromWire, itemFromWire } from '../values/wire.ts'

export interface Form {
  /** For use in this turn of the event loop. */
  item(attributes: unknown): Item
  /** For use in a later turn. */
  ownItem(attributes: unknown): Item
  ownValue(attribute: unknown): Value
  /** Whether an optional attribute is present: null is a value in process but absent on the wire. */
  isGiven(attribute: unknown): boolean
}

export const plainForm: Form = {
  item: validateItem,
  ownItem: (attributes) => copyItem(validateItem(attributes)),
  ownValue: (attribute) => copyValue(validateValue(attribute)),
  isGiven: (attribute) => attribute !== undefined,
}

/** JSON is translated, so that everything read from it is a copy. */
export const wireForm: Form = {
  item: itemFromWire,
  ownItem: itemFromWire,
  ownValue: fromWire,
  isGiven: (attribute) => attribute !== undefined && attribute !== null,
}

/**
 * Reads ExpressionAttributeValues. AWS's errors of older operations name the bad value; those of newer
 * ones do so only for a value that is not one AttributeValue.
 */
export function readExpressionValues(
  form: Form,
  values: object,
  isNamed = true,
): Record<string, Value> {
  const read: Item = {}
  for (const [name, value] of Object.entries(values)) {
    setAttribute(
      read,
      name,
      withMessage(
        () => form.ownValue(value),
        (reason) => {
          checkValueKeys(values)
          if (!isNamed && !reason.startsWith('Supplied AttributeValue ')) return reason
          return `ExpressionAttributeValues contains invalid value: ${reason} for key ${name}`
        },
      ),
    )
  }
  return read
}

/** AWS has these texts without the prefix of other mistakes in a start key. */
const WITHOUT_PREFIX =
  /contains duplicates|number set|numeric value|significant digits|number with magnitude/

export function readStartKey(form: Form, key: object): Item {
  return withMessage(
    () => form.ownItem(key),
    (reason) =>
      WITHOUT_PREFIX.test(reason) ? reason : `The provided starting key is invalid: ${reason}`,
  )
}

/** Runs `read` and replaces the message of a ValidationException. */
function withMessage<T>(read: () => T, text: (reason: string) => string): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof DynamoError && error.name === 'ValidationException') {
      throw validationError(text(error.message))
    }
    throw error
  }
}

// Copies of a caller's values. A write happens in a later turn of the event loop, and the caller may
// change its objects until then; what was checked must be what is stored.

/** Depth is bounded because the values have been checked. */
export function copyItem(item: Item): Item {
  const copy: Item = {}
  for (const name of Object.keys(item)) setAttribute(copy, name, copyValue(item[name] as Value))
  return copy
}

export function copyValue(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyValue)
  if (value instanceof Uint8Array) return value.slice()
  if (value instanceof Set) return copySet(value)
  return isMap(value) ? copyItem(value) : value
}

function copySet(set: SetValue): SetValue {
  const members: unknown[] = []
  for (const member of set) members.push(member instanceof Uint8Array ? member.slice() : member)
  return new Set(members) as SetValue
}

// The expressions of one request, read in AWS's order: first all placeholders, then update,
// condition, key condition, filter and projection, and at last that no placeholder is unused.
// A key condition needs the table and is planned later; until then its text has been read with the
// others so that its placeholders count as used.

interface WithPlaceholders {
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: object
}

/** `isNamed` as in `readExpressionValues`. */
export function readPlaceholders(
  input: WithPlaceholders,
  form: Form,
  isNamed = true,
): Placeholders {
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = input
  return createPlaceholders(
    names ?? undefined,
    values ? readExpressionValues(form, values, isNamed) : undefined,
  )
}
