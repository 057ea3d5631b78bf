import { EventEmitter } from 'node:events'
import { afterAll, expect, test } from 'vitest'
import { matchFilter } from '../../src/filters/match.ts'
import { Filter } from '../../src/filters/filter.ts'
import { mapFields } from '../../src/transforms/field-map.ts'
import type { FieldMap } from '../../src/transforms/transform.ts'
import { received } from '../support/received-events.ts'
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

const threadJobs: number[] = []
const threaded = createWorkScheduler({ onThreadJob: (units) => void threadJobs.push(units) })
afterAll(() => threaded.close())

/** A part of a larger buffer, as bodies often are. */
function part(text: string): Uint8Array {
  return new TextEncoder().encode(`before${text}after`).subarray(6, 6 + text.length)
}

test('an expensive filter decides in a thread what it would decide on the event loop', async () => {
  const event = () => received(part(`[${'{"a":1},'.repeat(29_000)}{"a":2}]`))
  for (const value of [2, 3]) {
    const filter = Filter.parse([{ path: '$[*].a', operator: 'equals', value }])
    const before = threadJobs.length
    expect(await threaded.evaluate('a', { kind: 'filter', filter, event: event() })).toEqual(
      matchFilter(filter, event()),
    )
    expect(threadJobs.length).toBe(before + 1)
  }
})

test('an expensive field map returns the same bytes from a thread', async () => {
  const fieldMap: FieldMap = { type: 'field_map', rules: [{ from: '$[1]', to: 'x.y' }] }
  const event = () => received(part(`[${'12.50,'.repeat(20_000)}1]`))
  const before = threadJobs.length
  const result = await threaded.evaluate('a', { kind: 'field_map', fieldMap, event: event() })
  expect(result).toEqual(mapFields(fieldMap, event()))
  expect(result).toMatchObject({ body: new TextEncoder().encode('{"x":{"y":12.50}}') })
  expect(threadJobs.length).toBe(before + 1)
})

/** What a request gets as 503 and a task repeats. */
const unavailable = (failure: string) => ({
  code: 'server.unavailable',
  headers: { 'retry-after': '1' },
  cause: new Error(`An evaluation in a thread failed: ${failure}`),
})

test('an expensive filter is neither matched nor unmatched once the scheduler is closed', async () => {
  const scheduler = createWorkScheduler()
  await scheduler.close()
  const event = received(`[${'1,'.repeat(131_000)}1]`)
  const filter = Filter.parse([{ path: '$[*]', operator: 'equals', value: 2 }])
  const evaluating = scheduler.evaluate('a', { kind: 'filter', filter, event })
  await expect(evaluating).rejects.toMatchObject(unavailable('closed'))
})

test('a thread that dies fails its own evaluation only, and the next one gets another thread', async () => {
  const started: EventEmitter[] = []
  const scheduler = createWorkScheduler({
    startThread() {
      const thread = Object.assign(new EventEmitter(), {
        ref() {},
        unref() {},
        terminate: async () => 0,
        postMessage: () => queueMicrotask(() => thread.emit('exit')),
      })
      started.push(thread)
      return thread as never
    },
  })
  const event = received(`[${'1,'.repeat(131_000)}1]`)
  const filter = Filter.parse([{ path: '$[*]', operator: 'equals', value: 2 }])
  for (let count = 1; count <= 2; count++) {
    const evaluating = scheduler.evaluate('a', { kind: 'filter', filter, event })
    await expect(evaluating).rejects.toMatchObject(unavailable('crashed'))
    expect(started).toHaveLength(count)
  }
  const cheap = { kind: 'filter', filter, event: received('[2]') } as const
  expect(await scheduler.evaluate('a', cheap)).toEqual({ matched: true })
})
