import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { responseText, itemText } from '../../src/values/wire-text.ts'
import { itemToWire } from '../../src/values/wire.ts'
import { anyItem } from '../support/arbitrary-values.ts'

describe('the text of an item', () => {
  test('is that of its JSON form, whatever is in it', () => {
    fc.assert(
      fc.property(anyItem, (item) => {
        expect(itemText(item)).toBe(JSON.stringify(itemToWire(item)))
      }),
    )
  })

  test('has every character escaped that must be, also in names', () => {
    const hostile = '"\\\u0000\u001f\ud800\u2028é😀'
    const item = { [hostile]: hostile, ['__proto__']: [hostile], m: { [hostile]: true } }
    expect(itemText(item)).toBe(JSON.stringify(itemToWire(item)))
    expect(JSON.parse(itemText({ a: hostile }))).toEqual({ a: { S: hostile } })
  })
})

describe('a response', () => {
  test('has its parts that are text before the others, and none that is not there', () => {
    expect(responseText({ Items: '[1]', Key: undefined }, { Count: 1 })).toBe(
      '{"Items":[1],"Count":1}',
    )
    expect(responseText({ Items: '[]' }, {})).toBe('{"Items":[]}')
    expect(responseText({ Items: undefined }, { Count: 1 })).toBe('{"Count":1}')
  })
})
