import * as fc from 'fast-check'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parseNumber } from '../../src/values/numbers.ts'
import { itemSize } from '../../src/values/size.ts'
import { NumberValue, setAttribute, type Item, type Value } from '../../src/values/types.ts'
import { decodeItem, decodeParts, ItemWriter } from '../../src/storage/codec.ts'

function encoded(item: Item): Buffer {
  const writer = new ItemWriter()
  writer.item(item)
  return Buffer.from(writer.bytes.subarray(0, writer.position))
}

function roundTrip(item: Item): Item {
  return decodeItem(encoded(item))
}

function isItemOrError(bytes: Uint8Array): boolean {
  try {
    return typeof decodeItem(bytes) === 'object'
  } catch (error) {
    return error instanceof Error && error.message.startsWith('Cannot decode stored item')
  }
}

const anyText = fc.oneof(fc.string(), fc.string({ unit: 'grapheme', maxLength: 80 }))
const anyName = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.string({ unit: 'grapheme', minLength: 1 }),
  fc.constantFrom('__proto__', 'constructor', 'toString', '0', '17', 'a'.repeat(300)),
)
const anyNumber = fc.oneof(
  fc.integer(),
  fc.double({ noDefaultInfinity: true, noNaN: true }).map((n) => (n === 0 ? 0 : n)),
  fc.constantFrom(new NumberValue('12345678901234567890123456789012345678'), 2 ** 31, -(2 ** 31)),
)
const anyBinary = fc.uint8Array({ maxLength: 400 })
const anyValue = fc.letrec<{ value: Value; item: Item }>((tie) => ({
  item: fc
    .uniqueArray(fc.tuple(anyName, tie('value')), { selector: ([name]) => name, maxLength: 8 })
    .map((entries) => {
      const item: Item = {}
      for (const [name, value] of entries) setAttribute(item, name, value)
      return item
    }),
  value: fc.oneof(
    { maxDepth: 4 },
    anyText,
    anyNumber,
    fc.boolean(),
    fc.constant(null),
    anyBinary,
    fc.uniqueArray(anyText, { minLength: 1, maxLength: 5 }).map((members) => new Set(members)),
    fc.uniqueArray(fc.integer(), { minLength: 1, maxLength: 5 }).map((members) => new Set(members)),
    fc.array(anyBinary, { minLength: 1, maxLength: 3 }).map((members) => new Set(members)),
    fc.array(tie('value'), { maxLength: 5 }),
    tie('item'),
  ),
})).item

describe('encoding an item', () => {
  test('every item comes back exactly as it was', () => {
    fc.assert(
      fc.property(anyValue, (item) => {
        // Not toStrictEqual, which takes an attribute named "constructor" for the type.
        expect(isDeepStrictEqual(roundTrip(item), item)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('the size of an item is known from writing it', () => {
    const writer = new ItemWriter()
    fc.assert(
      fc.property(anyValue, (item) => {
        writer.item(item)
        expect(writer.itemSize).toBe(itemSize(item))
      }),
      { numRuns: 500 },
    )
  })

  test('an attribute named __proto__ is an own property and no prototype, at every level', () => {
    const item = JSON.parse('{"__proto__": {"__proto__": 1}, "constructor": "c"}') as Item
    const copy = roundTrip(item)
    expect(Object.keys(copy)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    const inner = Object.getOwnPropertyDescriptor(copy, '__proto__')!.value as Item
    expect(Object.keys(inner)).toEqual(['__proto__'])
  })

  test('negative zero is stored as zero', () => {
    expect(Object.is(roundTrip({ n: -0 })['n'], 0)).toBe(true)
  })

  test('empty texts, binaries, lists and maps stay what they are', () => {
    const item = { s: '', b: new Uint8Array(0), l: [], m: {}, inner: { s: '' } }
    expect(roundTrip(item)).toStrictEqual(item)
  })

  test('an exact 38-digit number keeps all its digits', () => {
    const value = parseNumber('-1.2345678901234567890123456789012345678e-100') as NumberValue
    const copy = roundTrip({ value })['value'] as NumberValue
    expect(copy).toBeInstanceOf(NumberValue)
    expect(copy.value).toBe(value.value)
  })

  test('an item of 400 KB survives, in one attribute or in thousands', () => {
    const one = { text: 'é'.repeat(200_000) }
    expect(roundTrip(one)).toStrictEqual(one)
    const many: Item = {}
    for (let i = 0; i < 20_000; i++) many[`attribute-${i}`] = i
    expect(roundTrip(many)).toStrictEqual(many)
  })

  test('a decoded binary does not change when the buffer it came from does', () => {
    const bytes = encoded({ b: Uint8Array.of(1, 2, 3) })
    const item = decodeItem(bytes)
    bytes.fill(0)
    expect(item['b']).toEqual(Uint8Array.of(1, 2, 3))
  })

  test('several items in one writer keep their places while the buffer grows', () => {
    const writer = new ItemWriter()
    const items = Array.from({ length: 50 }, (_, i) => ({ i, text: 'x'.repeat(i * 200) }))
    const places = items.map((item) => {
      const start = writer.position
      writer.item(item)
      return [start, writer.position] as const
    })
    const copies = places.map(([start, end]) => decodeItem(writer.bytes.subarray(start, end)))
    expect(copies).toStrictEqual(items)
  })
})

describe('decoding what is not an item', () => {
  test('truncated, changed and random bytes are an error or another item, never a crash or a hang', () => {
    const bytes = encoded({ name: 'Ada', list: [1, { a: 'b' }], b: new Uint8Array(300) })
    for (let end = 0; end < bytes.length; end++) {
      expect(() => decodeItem(bytes.subarray(0, end))).toThrow('Cannot decode stored item')
    }
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), isItemOrError))
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, value) => {
        const changed = Buffer.from(bytes)
        changed[at] = value
        return isItemOrError(changed)
      }),
      { numRuns: 1000 },
    )
  })

  test('a value that nests without end is refused', () => {
    const item: Item = {}
    item['self'] = item
    expect(() => encoded(item)).toThrow('nested deeper')
  })

  test('undefined and not-a-number are refused', () => {
    expect(() => encoded({ a: undefined as unknown as Value })).toThrow('Cannot encode')
    expect(() => encoded({ a: Number.NaN })).toThrow('Cannot encode')
  })
})

describe('an item of which some attributes are decoded', () => {
  const NONE: ReadonlySet<string> = new Set()

  /** Encodes `old`, changes a partly decoded copy of it, and encodes that. */
  function changedCopy(old: Item, only: readonly string[], change: (item: Item) => Item) {
    const writer = new ItemWriter()
    const start = writer.append(encoded(old))
    const parts = decodeParts(writer.bytes, NONE, only, start, writer.position)
    const from = writer.position
    const item = change(parts.item)
    const grown = writer.changed(parts, start, item)
    return { parts, grown, stored: decodeItem(writer.bytes, from, writer.position) }
  }

  test('has these attributes, and the size of the others', () => {
    fc.assert(
      fc.property(anyValue, fc.array(fc.nat(9), { maxLength: 4 }), (old, choice) => {
        const names = Object.keys(old)
        const only = choice.flatMap((n) => names[n] ?? [])
        const bytes = encoded(old)
        const { item, skippedSize } = decodeParts(bytes, NONE, only)
        expect(Object.keys(item).toSorted()).toStrictEqual([...new Set(only)].toSorted())
        expect(itemSize(item) + skippedSize).toBe(itemSize(decodeItem(bytes)))
      }),
    )
  })

  test('keeps the others when it is changed', () => {
    fc.assert(
      fc.property(
        anyValue,
        anyValue,
        fc.array(fc.nat(9), { maxLength: 4 }),
        (old, added, choice) => {
          const names = Object.keys(old)
          const removed = choice.flatMap((n) => names[n] ?? [])
          const change = (item: Item): Item => {
            const changed = { ...item }
            for (const name of removed) delete changed[name]
            for (const name of Object.keys(added)) setAttribute(changed, name, added[name]!)
            return changed
          }
          const expected = roundTrip(change(roundTrip(old)))
          const { grown, stored } = changedCopy(old, [...removed, ...Object.keys(added)], change)
          expect(isDeepStrictEqual(stored, expected)).toBe(true)
          expect(grown).toBe(itemSize(expected) - itemSize(roundTrip(old)))
        },
      ),
    )
  })

  test('is rejected if it is damaged, and nothing else happens', () => {
    fc.assert(
      fc.property(anyValue, fc.nat(), fc.nat(255), (item, at, byte) => {
        const bytes = encoded(item)
        bytes[at % bytes.length] = byte
        let message = 'Cannot decode stored item'
        try {
          decodeParts(bytes, NONE, [])
        } catch (error) {
          message = (error as Error).message
        }
        expect(message).toMatch(/^Cannot decode stored item/)
      }),
    )
  })
})
