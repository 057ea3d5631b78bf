import { testClock } from '@strongroom/kit/testing/test-clock'
import { afterAll, expect, test } from 'vitest'
import { createSandbox, SCRIPT_TIMEOUT_MS } from '../../src/sandbox/sandbox.ts'
import { createWorkScheduler } from '../../src/sandbox/work-scheduler.ts'
import { applyTransform } from '../../src/transforms/apply.ts'
import type { TransformResult } from '../../src/transforms/result.ts'
import { received } from '../support/received-events.ts'
import { failureOf, textOf } from '../support/scripts.ts'
import { manualTimers } from '../support/manual-timers.ts'

const timers = manualTimers()
const clock = testClock()
const sandbox = createSandbox({ clock, startTimer: timers.start })
const scheduler = createWorkScheduler()
afterAll(() => sandbox.close())

function run(code: string, owner: string): Promise<TransformResult> {
  return applyTransform({ type: 'javascript', code }, received({}), { sandbox, scheduler, owner })
}

test('a script that the engine cannot interrupt is stopped, and disturbs no other owner', async () => {
  const hang = 'const transform = () => Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)'
  const hung = failureOf(run(hang, 'bad'))
  const queued = failureOf(run(hang, 'bad'))
  expect(textOf(await run('const transform = () => [1]', 'good'))).toBe('[1]')

  await timers.fire(SCRIPT_TIMEOUT_MS)
  const error = await hung
  expect(error.code).toBe('unresponsive')
  expect(error.isTransient).toBe(true)
  expect((await queued).code).toBe('overloaded')
  expect((await failureOf(run('const transform = () => [2]', 'bad'))).message).toMatch(
    /did not finish and was stopped. Correct it/,
  )
  expect(textOf(await run('const transform = () => [1]', 'good'))).toBe('[1]')
  clock.advance({ seconds: 10 })
  expect(textOf(await run('const transform = () => [2]', 'bad'))).toBe('[2]')
})

test('an owner with too many queued scripts is rejected', async () => {
  const code = 'const transform = () => { for (let i = 0; i < 1e5; i++); return [] }'
  const results = await Promise.all(Array.from({ length: 40 }, () => run(code, 'eager')))
  const rejected = results.flatMap((result) => (result.kind === 'failed' ? [result.message] : []))
  expect(rejected.length).toBeGreaterThan(0)
  expect(new Set(rejected)).toEqual(new Set(['Too many transforms are waiting. Try again later.']))
})

test('a closed sandbox rejects scripts with a transient error', async () => {
  const closed = createSandbox()
  await closed.close()
  const transform = { type: 'javascript' as const, code: 'const transform = () => []' }
  const options = { sandbox: closed, scheduler, owner: 'a' }
  const error = await failureOf(applyTransform(transform, received({}), options))
  expect(error.code).toBe('overloaded')
})
