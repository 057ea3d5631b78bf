import { expect, test } from 'vitest'
import { startWait } from '../../src/secrets/constant-time.ts'

test('a wait ends no sooner than its time after it started, and immediately if that has passed', async () => {
  const started = performance.now()
  const untilElapsed = startWait(4)
  await untilElapsed()
  expect(performance.now() - started).toBeGreaterThanOrEqual(4)
  await untilElapsed()
})
