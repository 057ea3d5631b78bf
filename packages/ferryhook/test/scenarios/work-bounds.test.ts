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

function recordTurns() {
  const turns: number[] = []
  const scheduler = createWorkScheduler({ onTurn: (units) => void turns.push(units) })
  return { turns, scheduler, total: () => turns.reduce((sum, units) => sum + units, 0) }
}

describe.each(plans)('on the plan %s', (plan) => {
  let bench: WorkerBench
  afterEach(() => bench.close())

  test('an event never spends more than one budget between two turns of the event loop', async () => {
    const { turns, scheduler, total } = recordTurns()
    bench = await openWorkerBench({ store }, { scheduler })
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
    expect(Math.max(...turns)).toBeLessThanOrEqual(MAX_UNITS_PER_TURN)
    // Every connection is parsed, filtered, and half of them transformed.
    expect(total()).toBeGreaterThan((count / 2) * MAX_UNITS)
    expect(total()).toBeLessThan(count * 3 * MAX_UNITS)
    expect(turns.length).toBeGreaterThan(count)
  })
})

describe('a dry run', () => {
  const sandbox = { run: () => Promise.reject(new Error('No scripts')), close: async () => {} }
  const headers = Object.fromEntries(repeat(1_000, (index) => [`h${index}`, '']))
  const event = () => received(body, { query, headers })

  test.each(Object.entries(filters))('of %s spends at most one budget', async (_, filter) => {
    const { turns, scheduler } = recordTurns()
    const options = { sandbox, scheduler, owner: 'usr_1' }
    await dryRun({ filter: Filter.parse(filter), event: event() }, options)
    await new Promise(setImmediate)
    expect(Math.max(...turns)).toBeGreaterThan(10_000)
    expect(Math.max(...turns)).toBeLessThanOrEqual(MAX_UNITS_PER_TURN)
  })

  test.each(Object.entries(transforms))('of %s fails within one budget', async (_, transform) => {
    const { turns, scheduler } = recordTurns()
    const options = { sandbox, scheduler, owner: 'usr_1' }
    const result = await dryRun({ transform: Transform.parse(transform), event: event() }, options)
    await new Promise(setImmediate)
    expect(result).toMatchObject({ outcome: 'failed', error: { code: 'time_limit' } })
    expect(Math.max(...turns)).toBeLessThanOrEqual(MAX_UNITS_PER_TURN)
  })
})
