/** Plain values to and from what the AWS document client takes and gives. */
import { NumberValue as SdkNumber } from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { Item } from './db.ts'
import { numberFromText } from './number-value.ts'

// The parameters that hold attribute values; everything around them is the operation's own.
const valued = new Set(['Key', 'Keys', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey'])

/** An operation's input with every attribute value made safe for the SDK. */
export function toSdk(input: unknown): never {
  return parameters(input) as never
}

function parameters(input: unknown): unknown {
  if (Array.isArray(input)) return input.map(parameters)
  if (typeof input !== 'object' || input === null) return input
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      valued.has(name) && value !== undefined ? outgoing(value) : parameters(value),
    ]),
  )
}

/** An operation's output without the SDK's own metadata. */
export function fromSdk<Output>(output: object): Output {
  const { $metadata: _metadata, ...rest } = output as Record<string, unknown>
  return rest as Output
}

export function fromAttributeValues(item: object): Item {
  return unmarshall(item as never, { wrapNumbers: numberFromText }) as Item
}

function outgoing(value: unknown): unknown {
  if (typeof value === 'number') return sdkNumber(value)
  if (typeof value !== 'object' || value === null) return checked(value)
  if (value instanceof Uint8Array) return value
  if (value instanceof Set) return new Set([...value].map(outgoing))
  if (Array.isArray(value)) return value.map(outgoing)
  if (isPlain(value)) return outgoingMap(value)
  if ('value' in value && typeof value.value === 'string') return SdkNumber.from(value.value)
  throw new TypeError('Cannot store a class instance: make it a plain object first')
}

function outgoingMap(map: object): object {
  const entries = Object.entries(map).map(([name, value]) => {
    // The SDK builds objects by assignment, which would set the prototype instead of a property.
    if (name === '__proto__')
      throw new TypeError('Cannot store an attribute named __proto__ on AWS')
    return [name, outgoing(value)]
  })
  return Object.fromEntries(entries)
}

function sdkNumber(value: number): SdkNumber {
  if (!Number.isFinite(value)) throw new TypeError(`Cannot store the number ${value}`)
  return SdkNumber.from(String(value))
}

function checked(value: unknown): unknown {
  if (value === undefined) throw new TypeError('Cannot store undefined: leave the attribute out')
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') {
    throw new TypeError(`Cannot store a ${typeof value}`)
  }
  return value
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
