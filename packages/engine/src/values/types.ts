/**
 * The engine's values: plain JavaScript, from the request's edge to the storage codec.
 *
 * A number is a JavaScript number if `String(number)` is exactly the same decimal, and a NumberValue
 * otherwise; all modules rely on this canonical form. Attributes can have any name, even `__proto__`: read
 * with `attribute`, write with `setAttribute`.
 */
import { validationError } from '../errors.ts'

const MAX_NAME_BYTES = 65_535

/** A number that JavaScript cannot hold exactly, as canonical decimal text. */
export class NumberValue {
  readonly value: string

  constructor(value: string) {
    this.value = value
  }

  toString(): string {
    return this.value
  }
}

export type Value =
  | string
  | number
  | NumberValue
  | boolean
  | null
  | Uint8Array
  | Set<string>
  | Set<number | NumberValue>
  | Set<Uint8Array>
  | Value[]
  | { [name: string]: Value }

export type Item = Record<string, Value>

/** A set of any of the three types. */
export type SetValue = Set<string> | Set<number | NumberValue> | Set<Uint8Array>

export type TypeName = 'S' | 'N' | 'B' | 'BOOL' | 'NULL' | 'L' | 'M' | 'SS' | 'NS' | 'BS'

/** The DynamoDB type of a valid value. Sets are never empty, so the first member decides. */
export function typeOf(value: Value): TypeName {
  switch (typeof value) {
    case 'string':
      return 'S'
    case 'number':
      return 'N'
    case 'boolean':
      return 'BOOL'
    default:
      if (value === null) return 'NULL'
      if (Array.isArray(value)) return 'L'
      if (value instanceof Uint8Array) return 'B'
      if (value instanceof Set) return setTypeOf(value)
      return value instanceof NumberValue ? 'N' : 'M'
  }
}

function setTypeOf(value: SetValue): TypeName {
  for (const member of value) {
    if (typeof member === 'string') return 'SS'
    return member instanceof Uint8Array ? 'BS' : 'NS'
  }
  return 'SS'
}

/** Whether a value is a map, the only type whose attributes can be read by name. */
export function isMap(value: Value | undefined): value is { [name: string]: Value } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Uint8Array) &&
    !(value instanceof Set) &&
    !(value instanceof NumberValue)
  )
}

/**
 * The attribute with that name, never an inherited property: plain objects inherit only functions, which
 * are not values, and `__proto__`.
 */
export function attribute(map: Item, name: string): Value | undefined {
  if (name === '__proto__') return Object.hasOwn(map, name) ? map[name] : undefined
  const value = map[name]
  return typeof value === 'function' ? undefined : value
}

/** Sets an attribute as an own property, even if its name is `__proto__`. */
export function setAttribute(map: Item, name: string, value: Value): void {
  if (name === '__proto__') {
    Object.defineProperty(map, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    })
  } else {
    map[name] = value
  }
}

export function checkAttributeName(name: string): void {
  if (name === '') throw validationError('Empty attribute name')
  // A UTF-16 unit has at most three bytes, so only long names need to be measured.
  if (name.length * 3 > MAX_NAME_BYTES && Buffer.byteLength(name) > MAX_NAME_BYTES) {
    throw validationError('Attribute name is too large, must be less than 65536 bytes')
  }
}
