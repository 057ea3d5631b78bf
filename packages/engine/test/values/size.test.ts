import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isWithin, itemSize } from '../../src/values/size.ts'
import { anyItem } from '../support/arbitrary-values.ts'

test('an item is within a number of bytes exactly if its size is', () => {
  fc.assert(
    fc.property(anyItem, (item) => {
      const size = itemSize(item)
      expect(isWithin(item, size)).toBe(true)
      expect(isWithin(item, size - 1)).toBe(false)
      expect(isWithin(item, 10 * size + 100)).toBe(true)
    }),
  )
})
