import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { startBackgroundTimer, startTimer } from '../src/timers.ts'

describe.each([
  ['a timer', startTimer],
  ['a background timer', startBackgroundTimer],
])('%s', (_, start) => {
  test('fires once', async () => {
    let fired = 0
    start(1, () => void fired++)
    await sleep(30)
    expect(fired).toBe(1)
  })

  test('does not fire after it was stopped', async () => {
    let fired = 0
    start(1, () => void fired++)()
    await sleep(30)
    expect(fired).toBe(0)
  })
})
