/** Items as bytes that are the same on every store, for comparison and checksums. */
import { createHash } from 'node:crypto'
import type { Item, Value } from '@strongroom/kit/db'
import { normalizeDecimal } from '@strongroom/kit/number-value'

export function itemBytes(item: Item): Buffer {
  return Buffer.from(textOf(item))
}

/** With the type of each value, attributes in order, and sets sorted, because sets have no order. */
function textOf(value: Value): string {
  if (typeof value === 'string') return `S${JSON.stringify(value)}`
  if (typeof value === 'number') return `N${normalizeDecimal(String(value))}`
  if (typeof value === 'boolean') return `BOOL${value}`
  if (value === null) return 'NULL'
  if (value instanceof Uint8Array) return `B${Buffer.from(value).toString('base64')}`
  if (value instanceof Set)
    return `{${Array.from(value as Set<Value>, textOf)
      .toSorted()
      .join()}}`
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`
  // A number that JavaScript cannot represent: an instance of a class.
  if (Object.getPrototypeOf(value) !== Object.prototype && typeof value['value'] === 'string')
    return `N${normalizeDecimal(value['value'])}`
  const attributes = Object.entries(value as Item).map(
    ([name, each]) => `${JSON.stringify(name)}:${textOf(each)}`,
  )
  return `M{${attributes.toSorted().join()}}`
}

const MODULUS = 2n ** 256n

/**
 * A checksum of many items that does not depend on their order: the sum of their SHA-256. It finds
 * accidents; somebody who can choose items can forge it.
 */
export class Checksum {
  #sum = 0n
  items = 0

  add(bytes: Uint8Array): void {
    const hash = createHash('sha256').update(bytes).digest('hex')
    this.#sum = (this.#sum + BigInt(`0x${hash}`)) % MODULUS
    this.items += 1
  }

  toString(): string {
    return this.#sum.toString(16).padStart(64, '0')
  }
}
