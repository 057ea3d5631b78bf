import { describe, expect, test } from 'vitest'
import { createLogThrottle } from '../src/log-throttle.ts'
import { testClock } from '../src/testing/test-clock.ts'

describe('a log throttle', () => {
  test('writes one line per key and then counts until the quiet time ends', () => {
    const clock = testClock()
    const throttle = createLogThrottle({ clock, quietMs: 60_000 })
    const written: [string, number][] = []
    const note = (key: string) =>
      throttle(key, (suppressed) => void written.push([key, suppressed]))
    note('a')
    note('a')
    note('b')
    clock.advance({ ms: 59_999 })
    note('a')
    clock.advance({ ms: 1 })
    note('a')
    note('a')
    expect(written).toStrictEqual([
      ['a', 0],
      ['b', 0],
      ['a', 2],
    ])
  })

  test('suppresses lines for ten minutes by default', () => {
    const clock = testClock()
    const throttle = createLogThrottle({ clock })
    let lines = 0
    throttle('a', () => void lines++)
    clock.advance({ ms: 599_999 })
    throttle('a', () => void lines++)
    clock.advance({ ms: 1 })
    throttle('a', () => void lines++)
    expect(lines).toBe(2)
  })

  test('counts what could not be written as suppressed', async () => {
    const clock = testClock()
    const throttle = createLogThrottle({ clock, quietMs: 1_000 })
    const failing = throttle('a', async () => {
      throw new Error('full')
    })
    await expect(failing).rejects.toThrow('full')
    expect(throttle('a', () => {})).toBeUndefined()
    clock.advance({ seconds: 1 })
    expect(() =>
      throttle('a', () => {
        throw new Error('still full')
      }),
    ).toThrow('still full')
    clock.advance({ seconds: 1 })
    let count: number | undefined
    throttle('a', (suppressed) => void (count = suppressed))
    expect(count).toBe(3)
  })

  test('writes again after the clock was set back', () => {
    let now = 1_000_000
    const throttle = createLogThrottle({ clock: { now: () => now } })
    let lines = 0
    throttle('a', () => void lines++)
    now -= 1
    throttle('a', () => void lines++)
    expect(lines).toBe(2)
  })

  test('forgets the keys that were used least recently', () => {
    const throttle = createLogThrottle({ clock: testClock(), maxKeys: 2 })
    const written: string[] = []
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) throttle(key, () => void written.push(key))
    expect(written).toStrictEqual(['a', 'b', 'c', 'b'])
  })
})
