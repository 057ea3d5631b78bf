import { testClock } from '@strongroom/kit/testing/test-clock'
import { afterAll, expect, test } from 'vitest'
import { MAX_BODY_BYTES } from '../../src/events/values.ts'
import type { ReceivedEvent } from '../../src/filters/received-event.ts'
import { Filter } from '../../src/filters/filter.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { createWorkScheduler } from '../../src/sandbox/work-scheduler.ts'
import { createSourceDryRun, type DryRunResult, dryRun } from '../../src/connections/dry-run.ts'
import { Transform } from '../../src/transforms/transform.ts'
import { received } from '../support/received-events.ts'
import { eventInput } from '../support/test-stores.ts'

const sandbox = createSandbox()
const scheduler = createWorkScheduler()
afterAll(() => sandbox.close())

const event = received({ type: 'a' })
const filter = Filter.parse([{ path: '$.type', operator: 'equals', value: 'a' }])

function script(code: string): Transform {
  return Transform.parse({ type: 'javascript', code: `const transform = ${code}` })
}

function tried(
  transform?: Transform,
  { on = event, by = filter }: { on?: ReceivedEvent; by?: Filter } = {},
): Promise<DryRunResult> {
  return dryRun({ filter: by, transform, event: on }, { sandbox, scheduler, owner: 'usr_1' })
}

test('a dry run reports an event that does not match as filtered, with the reason', async () => {
  expect(await tried(script('() => ({})'), { on: received({ type: 'b' }) })).toEqual({
    outcome: 'filtered',
    matched: false,
    reason: 'filters[0]: $.type is not "a"',
    console: [],
  })
})

test('without a filter and a transform an event is delivered unchanged', async () => {
  const { body } = event
  expect(await dryRun({ event }, { sandbox, scheduler, owner: 'usr_1' })).toEqual({
    outcome: 'delivered',
    matched: true,
    body,
    contentType: 'application/json',
    console: [],
  })
})

test('a dry run shows the transformed body, its headers and the console output', async () => {
  const code = '(e) => { console.log(e.body.type); return { body: [1], headers: { "x-a": "b" } } }'
  expect(await tried(script(code))).toEqual({
    outcome: 'delivered',
    matched: true,
    body: new TextEncoder().encode('[1]'),
    contentType: 'application/json',
    headers: { 'x-a': 'b' },
    console: ['a'],
  })
})

test('a dry run reports an event that the transform drops', async () => {
  expect(await tried(script('() => (console.log("no"), null)'))).toEqual({
    outcome: 'dropped',
    matched: true,
    reason: 'The transform returned null',
    console: ['no'],
  })
})

test('a failed transform is an outcome, with its console output', async () => {
  const code = '() => {\n  console.log("here")\n  throw new Error("no")\n}'
  expect(await tried(script(code))).toEqual({
    outcome: 'failed',
    matched: true,
    error: { code: 'threw', message: 'Error: no (line 3)' },
    console: ['here'],
  })
})

test('a dry run of many events retains no bodies, which together could fill the memory', async () => {
  const large = { ...eventInput({ sourceId: 'src_1' }), eventId: 'evt_1', headers: '{}' }
  const { many } = createSourceDryRun({
    stores: {
      events: {
        getById: async () => large,
        getBody: async () => Buffer.alloc(MAX_BODY_BYTES, ' '),
      },
    } as never,
    sources: { get: async () => ({}) } as never,
    sandbox,
    scheduler,
    clock: testClock(),
  })
  const eventIds = ['evt_1', 'evt_1']
  const { runs } = await many({ user: { userId: 'usr_1' } } as never, 'src_1', {
    events: { eventIds },
  })
  expect(runs).toHaveLength(2)
  for (const run of runs) {
    expect(run.result).toEqual({ outcome: 'delivered' })
    expect(Object.keys(run.event ?? {})).toEqual(['receivedAt', 'eventType'])
  }
})
