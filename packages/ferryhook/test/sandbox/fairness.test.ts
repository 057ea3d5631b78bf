/** How long scripts of one account wait for scripts of others that cannot be interrupted. */
import { EventEmitter } from 'node:events'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { testTimers } from '@strongroom/kit/testing/test-timers'
import { afterEach, expect, test } from 'vitest'
import { createSandbox, SCRIPT_TIMEOUT_MS, type ScriptJob } from '../../src/sandbox/sandbox.ts'
import type { ThreadHandle } from '../../src/sandbox/thread-pool.ts'

const clock = testClock()
const timers = testTimers(clock)
const started: { owner: string; at: number }[] = []

/** Stands in for a thread: a script whose code is `hang` never ends. */
function startThread(): ThreadHandle {
  const thread = new EventEmitter()
  const reply = (message: unknown) => queueMicrotask(() => thread.emit('message', message))
  reply('ready')
  return Object.assign(thread, {
    postMessage(job: ScriptJob) {
      started.push({ owner: job.owner, at: clock.now() })
      if (job.code !== 'hang') reply({ outcome: { type: 'checked' }, console: [] })
    },
    ref() {},
    unref() {},
    terminate: async () => 0,
  }) as unknown as ThreadHandle
}

const sandboxes: ReturnType<typeof createSandbox>[] = []
afterEach(async () => {
  await Promise.all(sandboxes.splice(0).map((each) => each.close()))
  started.length = 0
})

async function openSandbox() {
  const sandbox = createSandbox({ clock, startTimer: timers.start, startThread })
  sandboxes.push(sandbox)
  // Loads the code of the threads, which takes time that the clock does not know.
  await sandbox.run({ owner: 'first', code: 'ok' })
  const run = async (owner: string, code: string) => {
    const result = await sandbox.run({ owner, code })
    return result.kind === 'failed' ? result.failure : 'done'
  }
  /** How long a script of a new owner waits until it starts. */
  const waitOf = async (owner: string) => {
    const from = clock.now()
    await timers.until(run(owner, 'ok'))
    const start = started.find((each) => each.owner === owner)
    return start ? start.at - from : Number.POSITIVE_INFINITY
  }
  return { run, waitOf }
}

test('a third account waits less than a second for two whose scripts hang again and again', async () => {
  const { run, waitOf } = await openSandbox()
  const hung = ['a', 'b'].flatMap((owner) => [1, 2, 3].map(() => run(owner, 'hang')))
  expect(await waitOf('c')).toBeLessThanOrEqual(1_000)
  await timers.until(Promise.all(hung))
  for (let round = 0; round < 5; round++) {
    // At the end of each back-off both try again.
    clock.advance({ minutes: 10 })
    const again = ['a', 'b'].map((owner) => run(owner, 'hang'))
    expect(await waitOf(`c${round}`)).toBeLessThanOrEqual(1_000)
    await timers.until(Promise.all(again))
  }
})

test('four accounts whose scripts hang delay a fifth by one timeout at most', async () => {
  const { run, waitOf } = await openSandbox()
  const hung = ['a', 'b', 'c', 'd'].map((owner) => run(owner, 'hang'))
  expect(await waitOf('e')).toBeLessThanOrEqual(SCRIPT_TIMEOUT_MS)
  await timers.until(Promise.all(hung))
})

test('an account whose thread was killed waits, longer each time, and its queue is emptied', async () => {
  const { run } = await openSandbox()
  const [first, second] = [run('a', 'hang'), run('a', 'ok')]
  expect(await timers.until(Promise.all([first, second]))).toEqual(['unresponsive', 'backed_off'])
  clock.advance({ ms: 9_999 })
  expect(await run('a', 'ok')).toBe('backed_off')
  clock.advance({ ms: 1 })
  expect(await timers.until(run('a', 'hang'))).toBe('unresponsive')
  clock.advance({ ms: 19_999 })
  expect(await run('a', 'ok')).toBe('backed_off')
  clock.advance({ ms: 1 })
  expect(await run('a', 'ok')).toBe('done')
})

test('accounts whose threads were killed before never occupy all threads', async () => {
  const { run, waitOf } = await openSandbox()
  const suspects = ['a', 'b', 'c', 'd']
  await timers.until(Promise.all(suspects.map((owner) => run(owner, 'hang'))))
  clock.advance({ seconds: 30 })
  const again = suspects.map((owner) => run(owner, 'hang'))
  expect(await waitOf('e')).toBe(0)
  await timers.until(Promise.all(again))
})
