/** Random values for property tests, and a copy of a value that shares nothing with it. */
import * as fc from 'fast-check'
import { parseNumber } from '../../src/values/numbers.ts'
import { NumberValue, setAttribute, type Item, type Value } from '../../src/values/types.ts'

const name = fc.oneof(
  fc.string({ minLength: 1, maxLength: 4 }),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'),
)
const text = fc.string({ unit: 'grapheme', maxLength: 6 })
const bytes = fc.uint8Array({ maxLength: 6 })
const number = fc.oneof(
  fc.integer(),
  fc
    .double({ min: -1e100, max: 1e100, noNaN: true })
    .filter((n) => n !== 0 && Math.abs(n) > 1e-100),
  fc.bigInt({ min: 10n ** 20n, max: 10n ** 38n - 1n }).map((n) => parseNumber(n.toString())),
)
const members = { minLength: 1, maxLength: 4 }

export const anyValue: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    bytes,
    fc.uniqueArray(text, members).map((all) => new Set(all)),
    fc.uniqueArray(number, { ...members, selector: String }).map((all) => new Set(all)),
    fc.uniqueArray(bytes, { ...members, selector: String }).map((all) => new Set(all)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map(itemOf),
  ),
})).value

export const anyItem: fc.Arbitrary<Item> = fc
  .array(fc.tuple(name, anyValue), { maxLength: 5 })
  .map(itemOf)

function itemOf(entries: [string, Value][]): Item {
  const item: Item = {}
  for (const [key, value] of entries) setAttribute(item, key, value)
  return item
}

/** Sets are copied in reverse order, because they have none. */
export function copyOf(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof NumberValue) return new NumberValue(value.value)
  if (value instanceof Uint8Array) return value.slice()
  if (value instanceof Set)
    return new Set([...(value as Set<string>)].toReversed().map(copyOf)) as Value
  if (Array.isArray(value)) return value.map(copyOf)
  return itemOf(Object.keys(value).map((key) => [key, copyOf(value[key] as Value)]))
}
