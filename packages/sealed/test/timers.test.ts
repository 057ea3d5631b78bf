import { expect, test } from 'vitest'
import { systemTimers } from '../src/timers.ts'

test('a time that is counted from now is over no sooner, and at once if it has passed', async () => {
  const started = performance.now()
  const isOver = systemTimers.untilOver(4)
  await isOver()
  expect(performance.now() - started).toBeGreaterThanOrEqual(4)
  await isOver()
})
