import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { ageSeconds } from '../../src/branch-keys/age.ts'

const clock = testClock('2100-01-02T00:00:00.000Z')
const DAY = 24 * 60 * 60

describe('the age of a key', () => {
  test.each([
    ['to the microsecond', '2100-01-01T00:00:00.000000Z'],
    ['to the millisecond', '2100-01-01T00:00:00.358Z'],
    ['to the second', '2100-01-01T00:00:00Z'],
    ['with the wrong fraction of Java', '2100-01-01T00:00:00.000358Z'],
    ['with the colon of older Java', '2100-01-01T00:00:00:000358Z'],
    ['with an offset to the east', '2100-01-01T02:00:00.000000+02:00'],
    ['with an offset to the west', '2099-12-31T19:30:00-0430'],
  ])('is read from a time %s', (_how, createTime) => {
    expect(ageSeconds(createTime, clock)).toBe(DAY)
  })

  test('is nothing for a time that a clock or a time zone put a little ahead', () => {
    expect(ageSeconds('2100-01-02T00:00:00.000000Z', clock)).toBe(0)
    expect(ageSeconds('2100-01-02T14:00:00.000000Z', clock)).toBe(0)
  })

  test.each([
    '',
    'yesterday',
    'key 2',
    '1767225600',
    '2100-01-01',
    '2100-13-01T00:00:00Z',
    '2100-01-01T25:00:00Z',
    '2100-01-01T00:00:00',
    '2100-01-03T00:00:01.000000Z',
    ' 2100-01-01T00:00:00Z',
  ])('is unknown for "%s"', (createTime) => {
    expect(ageSeconds(createTime, clock)).toBeUndefined()
  })
})
