import { expect, test } from 'vitest'
import { createInFlight } from '../src/in-flight.ts'

test('work in flight is counted until it ends or fails', async () => {
  const inFlight = createInFlight()
  const done = inFlight.track(Promise.resolve('done'))
  const failed = inFlight.track(Promise.reject(new Error('failed')))
  expect(inFlight.count).toBe(2)
  expect(await done).toBe('done')
  await expect(failed).rejects.toThrow('failed')
  expect(inFlight.count).toBe(0)
})

test('waiting for work in flight includes work that was added during the wait', async () => {
  const inFlight = createInFlight()
  let isLaterDone = false
  const later = async () => {
    await new Promise((resolve) => void setImmediate(resolve))
    isLaterDone = true
  }
  const first = async () => {
    await Promise.resolve()
    void inFlight.track(later())
  }
  void inFlight.track(first())
  await inFlight.settled()
  expect([isLaterDone, inFlight.count]).toStrictEqual([true, 0])
  await inFlight.settled()
})
