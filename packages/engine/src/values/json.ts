/**
 * Reads the JSON of a request, with the errors of AWS's deserializer, which precede all validation.
 *
 * Its texts depend on whether the JSON is a member of a structure or an element of a list or map.
 */
import { serializationError } from '../errors.ts'

export type Position = 'member' | 'element'

const MAP_NOT_EXPECTED = 'Start of structure or map found where not expected'
/** AWS's deserializer fails with this text on a scalar in place of a collection inside a collection. */
const NESTED_COLLECTION =
  "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader 'bootstrap')"

export const ATTRIBUTE_VALUE = 'com.amazonaws.dynamodb.v20120810.AttributeValue'

/** `javaClass` is the class of the structure in AWS's service. */
export function structureOf(
  json: unknown,
  javaClass: string,
  position: Position,
): Record<string, unknown> {
  if (Array.isArray(json)) throw unrecognized(`class ${javaClass}`)
  if (typeof json === 'object' && json !== null) return json as Record<string, unknown>
  throw serializationError(
    position === 'member' ? 'Unexpected field type' : 'Unexpected value type in payload',
  )
}

/** `javaClass` is the class of the values. */
export function mapOf(
  json: unknown,
  javaClass: string,
  position: Position,
): Record<string, unknown> {
  if (Array.isArray(json)) throw unrecognized(`java.util.Map<java.lang.String, ${javaClass}>`)
  if (typeof json === 'object' && json !== null) return json as Record<string, unknown>
  throw notACollection(position)
}

export function listOf(json: unknown, position: Position): unknown[] {
  if (Array.isArray(json)) return json
  throw typeof json === 'object' && json !== null
    ? serializationError(MAP_NOT_EXPECTED)
    : notACollection(position)
}

function notACollection(position: Position): Error {
  return serializationError(position === 'member' ? 'Unexpected field type' : NESTED_COLLECTION)
}

export function stringOf(json: unknown): string {
  if (typeof json === 'string') return json
  throw notConvertible(json, 'String')
}

export function numberOf(json: unknown, javaType: 'Integer' | 'Long'): number {
  // Only in-process callers can pass NaN.
  if (typeof json === 'number' && !Number.isNaN(json)) return json
  throw notConvertible(json, javaType)
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['TRUE', true],
  ['YES', true],
  ['1', true],
  ['FALSE', false],
  ['NO', false],
  ['0', false],
])

/** As in AWS, some texts are booleans too. */
export function booleanOf(json: unknown): boolean {
  if (typeof json === 'boolean') return json
  if (typeof json !== 'string') throw notConvertible(json, 'Boolean')
  const value = BOOLEANS.get(json.toUpperCase())
  if (value === undefined) throw serializationError('Unexpected token received from parser')
  return value
}

function notConvertible(json: unknown, javaType: string): Error {
  if (Array.isArray(json)) return unrecognized(`class java.lang.${javaType}`)
  if (typeof json === 'object' && json !== null) return serializationError(MAP_NOT_EXPECTED)
  return serializationError(`${tokenName(json)} cannot be converted to ${javaType}`)
}

function tokenName(json: unknown): string {
  if (typeof json === 'boolean') return json ? 'TRUE_VALUE' : 'FALSE_VALUE'
  if (typeof json !== 'number') return 'STRING_VALUE'
  return Number.isInteger(json) ? 'NUMBER_VALUE' : 'DECIMAL_VALUE'
}

function unrecognized(javaType: string): Error {
  return serializationError(`Unrecognized collection type ${javaType}`)
}

const NOT_BASE64 = /[^A-Za-z0-9+/=]/

/** Strict base64 with padding, because AWS rejects anything else. */
export function bytesOf(json: unknown): Uint8Array {
  if (typeof json !== 'string') throw notBytes(json)
  if (json.length % 4 !== 0) {
    throw serializationError(
      `Base64 encoded length is expected a multiple of 4 bytes but found: ${json.length}`,
    )
  }
  const bytes = Buffer.from(json, 'base64')
  if (bytes.toString('base64') !== json) {
    const wrong = NOT_BASE64.exec(json)
    throw serializationError(
      wrong
        ? `Invalid Base64 character: '${wrong[0]}'`
        : 'Invalid last non-pad Base64 character dectected',
    )
  }
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function notBytes(json: unknown): Error {
  if (Array.isArray(json)) return unrecognized('class java.nio.ByteBuffer')
  return serializationError(
    typeof json === 'object' && json !== null
      ? MAP_NOT_EXPECTED
      : 'only base-64-encoded strings are convertible to bytes',
  )
}
