/**
 * Checks values of in-process callers like those from the wire.
 *
 * A canonical value is returned without copying; a copy is made only if the form of a number or the order
 * of a set must change.
 * JavaScript values that DynamoDB does not have (undefined, NaN, bigint, functions, symbols, dates, other
 * class instances) are rejected, never converted.
 */
import { validationError } from '../errors.ts'
import { MAX_DEPTH, PartBudget, tooDeep } from './depth.ts'
import { isSorted, setOf, type Member } from './sets.ts'
import { canonicalNumber, parseNumber } from './numbers.ts'
import {
  checkAttributeName,
  type Item,
  NumberValue,
  setAttribute,
  type SetValue,
  type Value,
} from './types.ts'

export function validateValue(value: unknown): Value {
  return checkValue(value, 1, new PartBudget())
}

export function validateItem(value: unknown): Item {
  if (!isPlainObject(value)) throw refused('an item', value)
  return validateMap(value, 1, new PartBudget())
}

function checkValue(value: unknown, depth: number, budget: PartBudget): Value {
  budget.spend()
  if (depth > MAX_DEPTH) throw tooDeep()
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return validateNumber(value)
    case 'object':
      if (value === null || value instanceof Uint8Array) return value
      if (Array.isArray(value)) return validateList(value, depth, budget)
      if (value instanceof Set) return validateSet(value, budget)
      if (isPlainObject(value)) return validateMap(value, depth + 1, budget)
      return validateNumberValue(value)
    default:
      throw refused('an attribute value', value)
  }
}

function validateNumber(value: number): number {
  if (!Number.isFinite(value)) {
    throw validationError(`The parameter cannot be converted to a numeric value: ${value}`)
  }
  return canonicalNumber(value)
}

/** Each library has its own class for long numbers; all have the text as `value`. */
function validateNumberValue(value: object): number | NumberValue {
  if (!('value' in value) || typeof value.value !== 'string') {
    throw refused('an attribute value', value)
  }
  const number = parseNumber(value.value)
  const isCanonical =
    value instanceof NumberValue && typeof number !== 'number' && number.value === value.value
  return isCanonical ? value : number
}

function validateList(list: unknown[], depth: number, budget: PartBudget): Value[] {
  let copy: Value[] | undefined
  for (let index = 0; index < list.length; index++) {
    const element = checkValue(list[index], depth + 1, budget)
    if (!Object.is(element, list[index])) copy ??= list.slice() as Value[]
    if (copy) copy[index] = element
  }
  return copy ?? (list as Value[])
}

function validateMap(map: Record<string, unknown>, depth: number, budget: PartBudget): Item {
  let copy: Item | undefined
  for (const name of Object.keys(map)) {
    checkAttributeName(name)
    const value = checkValue(map[name], depth, budget)
    if (!Object.is(value, map[name])) copy ??= { ...map } as Item
    if (copy) setAttribute(copy, name, value)
  }
  return copy ?? (map as Item)
}

function validateSet(set: Set<unknown>, budget: PartBudget): SetValue {
  const members: Member[] = []
  let type: 'SS' | 'NS' | 'BS' | undefined
  let isCanonical = true
  for (const element of set) {
    const member = checkValue(element, MAX_DEPTH, budget)
    const memberType = setTypeOf(member)
    if (!memberType || (type && memberType !== type)) throw refused('a member of this set', element)
    if (!Object.is(member, element)) isCanonical = false
    type = memberType
    members.push(member as Member)
  }
  const canonical = setOf(type ?? 'SS', members)
  return isCanonical && isSorted(members) ? (set as SetValue) : canonical
}

function setTypeOf(member: Value): 'SS' | 'NS' | 'BS' | undefined {
  if (typeof member === 'string') return 'SS'
  if (member instanceof Uint8Array) return 'BS'
  return typeof member === 'number' || member instanceof NumberValue ? 'NS' : undefined
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // The second case is Object.prototype, possibly of another realm.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function refused(role: string, value: unknown) {
  return validationError(`Cannot use ${nameOf(value)} as ${role}`)
}

function nameOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  const constructor: unknown = Reflect.get(value, 'constructor')
  return typeof constructor === 'function' && constructor.name !== ''
    ? `a value of class ${constructor.name}`
    : 'an object that is not plain'
}
