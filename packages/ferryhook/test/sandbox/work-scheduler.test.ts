import { expect, test } from 'vitest'
import {
  createWorkScheduler,
  MAX_UNITS_BEFORE_YIELD,
  type WorkScheduler,
} from '../../src/sandbox/work-scheduler.ts'

/** A scheduler whose turns the test begins. */
function steppedScheduler() {
  const turns: (() => void)[] = []
  const scheduler = createWorkScheduler({ yieldTurn: (resume) => void turns.push(resume) })
  return { scheduler, nextTurn: () => turns.shift()?.() }
}

/** Runs jobs that fill a turn each, and records their names. */
function recorder(scheduler: WorkScheduler) {
  const ran: string[] = []
  const add = (owner: string, name: string) =>
    scheduler.run(owner, (budget) => {
      budget.spend(MAX_UNITS_BEFORE_YIELD)
      ran.push(name)
    })
  return { ran, add }
}

test('one expensive job runs in a turn of the event loop, and owners take turns', async () => {
  const { scheduler, nextTurn } = steppedScheduler()
  const { ran, add } = recorder(scheduler)
  const jobs = ['a1', 'a2', 'a3'].map((name) => add('a', name))
  jobs.push(add('b', 'b1'))
  expect(ran).toEqual(['a1'])
  nextTurn()
  expect(ran).toEqual(['a1', 'a2'])
  nextTurn()
  expect(ran).toEqual(['a1', 'a2', 'b1'])
  nextTurn()
  await Promise.all(jobs)
  expect(ran).toEqual(['a1', 'a2', 'b1', 'a3'])
})

test('cheap jobs of one turn do not wait', async () => {
  const { scheduler } = steppedScheduler()
  const results = Array.from({ length: 20 }, (_, index) => scheduler.run('a', () => index))
  expect(await Promise.all(results)).toHaveLength(20)
})

test('a job that throws rejects its own promise only', async () => {
  const scheduler = createWorkScheduler()
  const failing = scheduler.run('a', () => {
    throw new TypeError('broken')
  })
  await expect(failing).rejects.toThrow('broken')
  expect(await scheduler.run('a', () => 'fine')).toBe('fine')
})
