/**
 * Converts attribute values between JSON (`{"S": "x"}`) and the engine's plain values.
 *
 * Checks are in AWS's order: a value without the shape of an AttributeValue is a SerializationException,
 * then each present datatype is checked, then their number. As in AWS, a null member counts as absent,
 * and unknown members are ignored.
 */
import { validationError } from '../errors.ts'
import {
  ATTRIBUTE_VALUE,
  booleanOf,
  bytesOf,
  listOf,
  mapOf,
  type Position,
  stringOf,
  structureOf,
} from './json.ts'
import { MAX_DEPTH, tooDeep } from './depth.ts'
import { setOf, type Member } from './sets.ts'
import { numberText, parseNumber } from './numbers.ts'
import {
  checkAttributeName,
  type Item,
  NumberValue,
  setAttribute,
  typeOf,
  type Value,
} from './types.ts'

/** An AttributeValue in JSON. */
export type WireValue = { [type: string]: unknown }

export function fromWire(json: unknown): Value {
  return valueFromWire(json, 1)
}

/**
 * Throws the SerializationException of a value that is not an AttributeValue. Unlike `fromWire`, it does
 * not read further than values may nest, and ignores what is only invalid.
 */
export function checkWireTypes(json: unknown, position: Position, depth = 1): void {
  if (json === null || json === undefined || depth > MAX_DEPTH) return
  const wire = structureOf(json, ATTRIBUTE_VALUE, position)
  for (const type of Object.keys(wire)) {
    const member = wire[type]
    if (member !== null && member !== undefined) checkDatatype(type, member, depth)
  }
}

function checkDatatype(type: string, member: unknown, depth: number): void {
  switch (type) {
    case 'S':
    case 'N':
      stringOf(member)
      return
    case 'BOOL':
    case 'NULL':
      booleanOf(member)
      return
    case 'B':
      bytesOf(member)
      return
    case 'SS':
    case 'NS':
    case 'BS': {
      const read = type === 'BS' ? bytesOf : stringOf
      for (const element of listOf(member, 'member')) if (element !== null) read(element)
      return
    }
    case 'L':
      for (const element of listOf(member, 'member')) checkWireTypes(element, 'element', depth + 1)
      return
    case 'M': {
      const map = mapOf(member, ATTRIBUTE_VALUE, 'member')
      for (const name of Object.keys(map)) checkWireTypes(map[name], 'element', depth + 1)
    }
  }
}

export function itemFromWire(json: unknown): Item {
  return mapFromWire(json, 1)
}

/** Reads `ExpressionAttributeValues`, with AWS's message for an invalid one. */
export function placeholderValuesFromWire(json: unknown): Record<string, Value> {
  const values: Record<string, Value> = {}
  const wire = mapOf(json, ATTRIBUTE_VALUE, 'member')
  for (const key of Object.keys(wire)) {
    try {
      setAttribute(values, key, valueFromWire(wire[key], 1))
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'ValidationException') throw error
      throw validationError(
        `ExpressionAttributeValues contains invalid value: ${error.message} for key ${key}`,
      )
    }
  }
  return values
}

function mapFromWire(json: unknown, depth: number): Item {
  const wire = mapOf(json, ATTRIBUTE_VALUE, 'member')
  const map: Item = {}
  for (const name of Object.keys(wire)) {
    checkAttributeName(name)
    setAttribute(map, name, valueFromWire(wire[name], depth))
  }
  return map
}

function valueFromWire(json: unknown, depth: number): Value {
  if (depth > MAX_DEPTH) throw tooDeep()
  if (json === null || json === undefined) {
    throw validationError(EMPTY)
  }
  const wire = structureOf(json, ATTRIBUTE_VALUE, 'element')
  let value: Value | undefined
  let datatypes = 0
  for (const type of Object.keys(wire)) {
    const member = wire[type]
    if (member === null || member === undefined) continue
    const found = datatypeFromWire(type, member, depth)
    if (found === undefined) continue
    value = found
    datatypes++
  }
  if (value === undefined) throw validationError(EMPTY)
  if (datatypes > 1) throw validationError(SEVERAL)
  return value
}

const EMPTY =
  'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes'
const SEVERAL =
  'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes'

function datatypeFromWire(type: string, member: unknown, depth: number): Value | undefined {
  switch (type) {
    case 'S':
      return stringOf(member)
    case 'N':
      return parseNumber(stringOf(member))
    case 'BOOL':
      return booleanOf(member)
    case 'M':
      return mapFromWire(member, depth + 1)
    case 'L':
      return listOf(member, 'member').map((element) => valueFromWire(element, depth + 1))
    case 'B':
      return bytesOf(member)
    case 'NULL':
      if (booleanOf(member)) return null
      throw validationError(
        'One or more parameter values were invalid: Null attribute value types must have the value of true',
      )
    case 'SS':
      return setFromWire('SS', member, stringOf)
    case 'NS':
      return setFromWire('NS', member, (element) => parseNumber(stringOf(element)))
    case 'BS':
      return setFromWire('BS', member, bytesOf)
    default:
      return undefined
  }
}

function setFromWire(type: 'SS' | 'NS' | 'BS', json: unknown, read: (element: unknown) => Member) {
  const members = listOf(json, 'member').map((element) => {
    if (element === null) throw nullMember(type)
    return read(element)
  })
  return setOf(type, members)
}

function nullMember(type: 'SS' | 'NS' | 'BS') {
  const kind = type === 'SS' ? 'string' : type === 'NS' ? 'number' : 'binary'
  return validationError(
    `One or more parameter values were invalid: An ${kind} set may not have a null string as a member`,
  )
}

export function itemToWire(item: Item): Record<string, WireValue> {
  const wire: Record<string, WireValue> = {}
  for (const name of Object.keys(item)) {
    setAttribute(wire as Item, name, toWire(item[name] as Value) as Value)
  }
  return wire
}

export function toWire(value: Value): WireValue {
  if (typeof value === 'string') return { S: value }
  if (typeof value === 'number') return { N: numberText(value) }
  if (typeof value === 'boolean') return { BOOL: value }
  if (value === null) return { NULL: true }
  if (Array.isArray(value)) return { L: value.map(toWire) }
  if (value instanceof Uint8Array) return { B: base64(value) }
  if (value instanceof NumberValue) return { N: value.value }
  if (value instanceof Set) {
    return { [typeOf(value)]: Array.from(value as Set<Member>, memberToWire) }
  }
  return { M: itemToWire(value) }
}

function memberToWire(member: Member): string {
  if (typeof member === 'string') return member
  return member instanceof Uint8Array ? base64(member) : numberText(member)
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
