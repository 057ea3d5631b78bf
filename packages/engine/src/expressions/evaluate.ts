/**
 * Evaluates conditions on items. If an attribute is missing or has another type, a comparison is false,
 * not an error; only `<>` is then true.
 */
import { equal } from '../values/compare.ts'
import { compare } from '../values/order.ts'
import { hasMember, type Member } from '../values/sets.ts'
import {
  type Item,
  NumberValue,
  type SetValue,
  type TypeName,
  typeOf,
  type Value,
} from '../values/types.ts'
import type { Condition } from './condition.ts'
import type { Operand } from './operands.ts'
import { valueAt } from './paths.ts'
import type { Comparator } from './syntax.ts'

const NO_ITEM: Item = {}

/** A missing item is evaluated like an item without attributes. */
export function evaluate(condition: Condition, item: Item | undefined): boolean {
  return holds(condition, item ?? NO_ITEM)
}

function holds(condition: Condition, item: Item): boolean {
  switch (condition.type) {
    case 'exists':
      return (valueAt(item, condition.path) !== undefined) === condition.expected
    case 'compare':
      return compares(
        condition.comparator,
        operandValue(condition.left, item),
        operandValue(condition.right, item),
      )
    case 'and':
      for (const part of condition.conditions) if (!holds(part, item)) return false
      return true
    case 'or':
      for (const part of condition.conditions) if (holds(part, item)) return true
      return false
    case 'not':
      return holds(condition.condition, item) === (condition.count % 2 === 0)
    case 'begins_with':
      return beginsWith(operandValue(condition.left, item), operandValue(condition.right, item))
    case 'contains':
      return contains(operandValue(condition.left, item), operandValue(condition.right, item))
    case 'between': {
      const value = operandValue(condition.operand, item)
      return (
        compares('>=', value, operandValue(condition.low, item)) &&
        compares('<=', value, operandValue(condition.high, item))
      )
    }
    case 'in': {
      const value = operandValue(condition.operand, item)
      if (value === undefined) return false
      for (const choice of condition.choices) {
        if (compares('=', value, operandValue(choice, item))) return true
      }
      return false
    }
    case 'attribute_type': {
      const value = operandValue(condition.operand, item)
      return value !== undefined && typeOf(value) === condition.name
    }
  }
}

function operandValue(operand: Operand, item: Item): Value | undefined {
  if (operand.type === 'value') return operand.value
  if (operand.type === 'path') return valueAt(item, operand.path)
  const value = operandValue(operand.of, item)
  return value === undefined ? undefined : sizeOf(value)
}

/** The number of characters, bytes, members, elements or attributes; other values have no size. */
function sizeOf(value: Value): number | undefined {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null || value instanceof NumberValue) return undefined
  if (value instanceof Set) return value.size
  if (value instanceof Uint8Array || Array.isArray(value)) return value.length
  return Object.keys(value).length
}

function compares(comparator: Comparator, a: Value | undefined, b: Value | undefined): boolean {
  if (comparator === '<>') return a === undefined || b === undefined || !equal(a, b)
  if (a === undefined || b === undefined) return false
  if (comparator === '=') return equal(a, b)
  const type = typeOf(a)
  if (!isOrdered(type) || type !== typeOf(b)) return false
  const order = compare(a, b)
  switch (comparator) {
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
  }
}

function isOrdered(type: TypeName): boolean {
  return type === 'S' || type === 'N' || type === 'B'
}

function beginsWith(value: Value | undefined, prefix: Value | undefined): boolean {
  if (typeof value === 'string') return typeof prefix === 'string' && value.startsWith(prefix)
  if (!(value instanceof Uint8Array) || !(prefix instanceof Uint8Array)) return false
  return (
    prefix.length <= value.length && Buffer.compare(value.subarray(0, prefix.length), prefix) === 0
  )
}

/** Looks for a substring of a string or binary, a member of a set, or an element of a list. */
function contains(value: Value | undefined, part: Value | undefined): boolean {
  if (value === undefined || part === undefined) return false
  if (typeof value === 'string') return typeof part === 'string' && value.includes(part)
  if (Array.isArray(value)) return value.some((element) => equal(element, part))
  if (value instanceof Uint8Array) {
    return part instanceof Uint8Array && bufferOf(value).includes(bufferOf(part))
  }
  return value instanceof Set && isMemberType(value, part)
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function isMemberType(set: SetValue, part: Value): boolean {
  return typeOf(set) === `${typeOf(part)}S` && hasMember(set, part as Member)
}
