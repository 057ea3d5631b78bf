import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonWriter } from '../../src/storage/codec-json.ts'
import { decodeItem, ItemWriter } from '../../src/storage/codec.ts'
import { itemSize } from '../../src/values/size.ts'
import type { Item, Value } from '../../src/values/types.ts'
import { itemText } from '../../src/values/wire-text.ts'
import { anyItem } from '../support/arbitrary-values.ts'

function stored(item: Item): Uint8Array {
  const writer = new ItemWriter()
  writer.item(item)
  return Uint8Array.from(writer.bytes.subarray(0, writer.position))
}

function json(writer: JsonWriter): string {
  return writer.bytes.toString('utf8', 0, writer.position)
}

describe('stored bytes as JSON', () => {
  test('equal the JSON of the decoded item, and count its size', () => {
    fc.assert(
      fc.property(anyItem, (item) => {
        const bytes = stored(item)
        const writer = new JsonWriter()
        const size = writer.item(bytes)
        const decoded = decodeItem(bytes)
        expect(json(writer)).toBe(itemText(decoded))
        expect(size).toBe(itemSize(decoded))
      }),
    )
  })

  test('escape each character that JSON escapes, at any position', () => {
    const characters = Array.from({ length: 0x100 }, (_, code) => String.fromCharCode(code))
    const writer = new JsonWriter()
    const others: Item[] = []
    for (const character of [...characters, '\u2028', '\ud83d\ude00']) {
      for (let before = 0; before < 9; before++) {
        for (let after = 0; after < 5; after++) {
          const item = { id: `${'a'.repeat(before)}${character}${'~'.repeat(after)}` }
          writer.position = 0
          writer.item(stored(item))
          // Thousands of expectations would take longer than what they are about.
          if (json(writer) !== itemText(item)) others.push(item)
        }
      }
    }
    expect(others).toEqual([])
  })

  test('follow each other, however long they are', () => {
    const items = [
      { id: 'a', text: 'x'.repeat(300_000) },
      { id: '"\\\n', text: '"'.repeat(50_000) },
      { ['n'.repeat(300)]: 'é'.repeat(70_000), ['__proto__']: new Uint8Array(9000) },
    ]
    const writer = new JsonWriter()
    for (const item of items) writer.item(stored(item))
    expect(json(writer)).toBe(items.map(itemText).join(''))
  })

  test('are whole wherever the memory ends that they are written into', () => {
    let nested: Value = null
    for (let level = 0; level < 31; level++) nested = { m: nested }
    const bytes = stored({ nested })
    for (let before = 0x10000 - 600; before <= 0x10000; before++) {
      const writer = new JsonWriter()
      writer.text(' '.repeat(10_000))
      writer.position = before
      writer.item(bytes)
      expect(writer.bytes.toString('utf8', before, writer.position)).toBe(itemText({ nested }))
    }
  })

  test('are refused if they are not an item', () => {
    const bytes = stored({ id: 'a', list: [1, 'two'], set: new Set(['x']) })
    for (let end = 0; end < bytes.length; end++) {
      expect(() => new JsonWriter().item(bytes.subarray(0, end)), `${end}`).toThrow(
        'Cannot decode stored item',
      )
    }
    expect(() => new JsonWriter().item(Uint8Array.of(9, 0, 0, 0, 0))).toThrow('item version 9')
    expect(() => new JsonWriter().item(Uint8Array.of(1, 0, 0, 0, 1, 1, 97, 99))).toThrow('tag 99')
  })
})
