/** The most expensive configuration of every plan, and what it may cost the event loop. */
import { testStores } from '@strongroom/kit/testing/stores'
import { afterEach, describe, expect, test } from 'vitest'
import { dryRun } from '../../src/connections/dry-run.ts'
import { MAX_UNITS } from '../../src/filters/budget.ts'
import { Filter } from '../../src/filters/filter.ts'
import { planLimits, plans } from '../../src/plans.ts'
import { createWorkScheduler, MAX_UNITS_PER_TURN } from '../../src/sandbox/work-scheduler.ts'
import { Transform } from '../../src/transforms/transform.ts'
import { received } from '../support/received-events.ts'
import { required } from '../support/test-stores.ts'
import { openWorkerBench, type WorkerBench } from '../support/test-worker.ts'

const store = required(testStores()[0])
const repeat = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index))

/** 256 KB with as many parts as possible. */
const body = `[${'1,'.repeat(131_000)}1]`
const query = 'a&'.repeat(4_096)

const filters = {
  wildcards: repeat(50, () => ({ path: '$[*]', operator: 'exists' })),
  'queries and headers': repeat(50, (index) => ({
    path: index % 2 ? '$query.x' : '$headers.x',
    operator: 'not_exists',
  })),
  'choices for every element': repeat(50, (index) => ({
    not: { path: '$[*]', operator: 'in', value: repeat(100, (choice) => index + choice + 2) },
  })),
  patterns: repeat(50, (index) => ({
    not: { path: '$[*]', operator: 'regex', value: `(?:a?){100}a{100}${index}` },
  })),
}
const transforms = {
  'copies of all elements': {
    type: 'field_map',
    rules: repeat(100, (index) => ({ from: '$[*]', to: `a${index}` })),
  },
  'copies of the body': {
    type: 'field_map',
    rules: repeat(100, (index) => ({ from: '$', to: `a${index}` })),
  },
  'parsing again and again': {
    type: 'field_map',
    start: 'body',
    rules: repeat(100, (index) =>
      index % 2 ? { from: '$', to: 'a' } : { to: 'a[0]', value: index },
    ),
  },
  'deep targets': {
    type: 'field_map',
    rules: repeat(100, (index) => ({ to: `a${index}${'[99]'.repeat(31)}`, value: 1 })),
  },
}

/** Records what is spent on the event loop, turn by turn, and in the thread, job by job. */
function recordWork() {
  const turns: number[] = []
  const threadJobs: number[] = []
  const scheduler = createWorkScheduler({
    onTurn: (units) => void turns.push(units),
    onThreadJob: (units) => void threadJobs.push(units),
  })
  closers.push(() => scheduler.close())
  return { turns, threadJobs, scheduler }
}

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** About 6 ms at 50 nanoseconds for each unit. */
const MAX_TURN = 120_500

test('a turn of the event loop spends at most a third of the budget of one filter', () => {
  expect(MAX_UNITS_PER_TURN).toBe(MAX_TURN)
  expect(MAX_TURN).toBeLessThan(MAX_UNITS / 3)
})

describe.each(plans)('on the plan %s', (plan) => {
  test('the most expensive filters and field maps leave every turn of the event loop short', async () => {
    const { turns, threadJobs, scheduler } = recordWork()
    const bench: WorkerBench = await openWorkerBench({ store }, { scheduler })
    closers.unshift(() => bench.close())
    const source = await bench.newSource()
    const count = planLimits[plan].connectionsPerSource
    const transform = JSON.stringify(transforms['copies of all elements'])
    for (let index = 0; index < count; index++) {
      // Half of them pass the filter, so that their transform runs too.
      const filter = index % 2 ? filters.wildcards : filters['queries and headers']
      await bench.connect(source, '/hooks', { filters: JSON.stringify(filter), transform })
    }
    const event = await bench.receive(source, { body: new TextEncoder().encode(body), query })
    await bench.worker.runOnce()
    // The last turn ends when the event loop continues.
    await new Promise(setImmediate)

    expect(await bench.status(event)).toBe('failed')
    expect(Math.max(...turns)).toBeLessThanOrEqual(MAX_TURN)
    expect(Math.max(...threadJobs)).toBeLessThanOrEqual(MAX_UNITS)
    // The wildcards of one half, and the transforms of the other.
    expect(threadJobs).toHaveLength(count)
    expect(Math.min(...threadJobs)).toBeGreaterThan(MAX_UNITS / 2)
  })

  test('the largest filters and transforms are parsed, and patterns compiled, in short turns', async () => {
    const { turns, scheduler } = recordWork()
    const bench: WorkerBench = await openWorkerBench({ store }, { scheduler })
    closers.unshift(() => bench.close())
    const source = await bench.newSource()
    const text = 'x'.repeat(60_000)
    const large = { path: '$.a', operator: 'not_equals', value: text }
    const transform = JSON.stringify({ type: 'field_map', rules: [{ to: 'a', value: text }] })
    for (let index = 0; index < planLimits[plan].connectionsPerSource; index++) {
      const filter = index % 2 ? [large] : distinctPatterns(index)
      await bench.connect(source, '/hooks', { filters: JSON.stringify(filter), transform })
    }
    const event = await bench.receive(source, { body: new TextEncoder().encode('{"a":"a"}') })
    await bench.worker.runOnce()
    await new Promise(setImmediate)

    expect(await bench.status(event)).toBe('delivered')
    expect(Math.max(...turns)).toBeLessThanOrEqual(MAX_TURN)
    expect(Math.max(...turns)).toBeGreaterThan(50_000)
  })
})

function distinctPatterns(seed: number) {
  return repeat(50, (index) => ({
    not: { path: '$.a', operator: 'regex', value: `${'abcdefgh'.repeat(30)}${seed}x${index}` },
  }))
}

describe('a dry run', () => {
  const sandbox = { run: () => Promise.reject(new Error('No scripts')), close: async () => {} }
  const headers = Object.fromEntries(repeat(1_000, (index) => [`h${index}`, '']))
  const event = () => received(body, { query, headers })

  test.each(Object.entries(filters))('of %s spends one budget in a thread', async (_, filter) => {
    const { turns, threadJobs, scheduler } = recordWork()
    const options = { sandbox, scheduler, owner: 'usr_1' }
    await dryRun({ filter: Filter.parse(filter), event: event() }, options)
    await new Promise(setImmediate)
    expect(Math.max(...turns)).toBeLessThanOrEqual(MAX_TURN)
    expect(Math.max(...threadJobs)).toBeLessThanOrEqual(MAX_UNITS)
  })

  test.each(Object.entries(transforms))('of %s fails within one budget', async (_, transform) => {
    const { turns, threadJobs, scheduler } = recordWork()
    const options = { sandbox, scheduler, owner: 'usr_1' }
    const result = await dryRun({ transform: Transform.parse(transform), event: event() }, options)
    await new Promise(setImmediate)
    expect(result).toMatchObject({ outcome: 'failed', error: { code: 'time_limit' } })
    expect(Math.max(...turns)).toBeLessThanOrEqual(MAX_TURN)
    expect(threadJobs).toHaveLength(1)
    expect(threadJobs[0]).toBeGreaterThan(MAX_UNITS / 4)
    expect(threadJobs[0]).toBeLessThanOrEqual(MAX_UNITS)
  })

  test('of a small event never leaves the event loop', async () => {
    const { threadJobs, scheduler } = recordWork()
    const filter = Filter.parse([{ path: '$.a', operator: 'equals', value: 1 }])
    const transform = Transform.parse({ type: 'field_map', rules: [{ from: '$.a', to: 'b' }] })
    const options = { sandbox, scheduler, owner: 'usr_1' }
    const result = await dryRun({ filter, transform, event: received({ a: 1 }) }, options)
    expect(result).toMatchObject({ outcome: 'delivered' })
    expect(threadJobs).toEqual([])
  })
})
