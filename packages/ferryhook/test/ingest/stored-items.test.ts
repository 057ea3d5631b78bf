import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Db, Item } from '@strongroom/kit/db'
import { ApiError } from '@strongroom/kit/errors'
import { newId } from '@strongroom/kit/ids'
import type { HotRequest } from '@strongroom/kit/http/hot-routes'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { EventBodyItem, EventItem } from '../../src/events/item.ts'
import { planLimits } from '../../src/plans.ts'
import { RouteTaskItem } from '../../src/queue/tasks.ts'
import { type IngestBench, openIngestBench, type Receiver } from '../support/test-ingest.ts'

/** Anything that a server could pass to ingest, even what Node's parser would reject. */
const text = (maxLength: number) => fc.string({ unit: 'binary', maxLength })
const header = fc.tuple(
  fc.oneof(
    text(30),
    fc.constantFrom('content-type', 'authorization', 'cookie', '__proto__', 'constructor', 'X-Id'),
  ),
  fc.oneof(text(100), text(2_000)),
)
const request: fc.Arbitrary<Omit<HotRequest, 'parameter'>> = fc.record({
  method: fc.constantFrom('POST', 'PUT'),
  query: fc.option(fc.oneof(text(50), text(9_000)), { nil: undefined }),
  rawHeaders: fc.array(header, { maxLength: 40, size: 'max' }).map((pairs) => pairs.flat()),
  body: fc.oneof(
    fc.uint8Array({ maxLength: 100 }),
    fc.string({ unit: 'binary', maxLength: 5_000, size: 'max' }).map((body) => Buffer.from(body)),
    fc.uint8Array({ maxLength: 20_000, size: 'max' }),
    fc.nat(262_144).map((size) => new Uint8Array(size).fill(120)),
  ),
  clientAddress: fc.option(fc.oneof(fc.ipV4(), fc.ipV6()), { nil: undefined }),
})

describe.each(serviceStores())('ingest on $name', (store) => {
  let bench: IngestBench
  let receiver: Receiver
  let written: Item[] = []

  /** To save time, ingest does not validate the items of an event, so this test does. */
  function recording(db: Db): Db {
    return {
      ...db,
      async transactWriteItems(input) {
        written.push(...input.TransactItems.flatMap(({ Put }) => (Put ? [Put.Item] : [])))
        return db.transactWriteItems(input)
      },
    }
  }

  let reservations = 0
  /** The worker of the process has room for every second event. */
  const reserve = async () => {
    const now = bench.clock.now()
    const lease = { leaseId: newId('lse'), claimedAt: now, leaseUntil: now + 25_000 }
    return ++reservations % 2 === 0 ? { lease, deliver: () => {}, cancel: () => {} } : undefined
  }

  beforeAll(async () => {
    bench = await openIngestBench(store)
    const free = { ...planLimits.team, eventsPerMinute: 1_000_000, eventsPerMonth: 1_000_000 }
    receiver = await bench.another({
      on: recording(bench.db),
      limits: { ...planLimits, team: free },
      reserve,
    })
  })
  afterAll(() => bench.close())

  test.each([
    ['accepts', {}],
    ['stores although their signature is invalid', { provider: 'github', secret: 'secret' }],
  ] as const)('writes only valid items for requests that it %s', async (_, given) => {
    const { sourceId } = await bench.source(given)
    let stored = 0
    await fc.assert(
      fc.asyncProperty(request, async (sent) => {
        written = []
        await receiver.ingest.receive({ ...sent, parameter: sourceId }).catch((error: unknown) => {
          if (!(error instanceof ApiError) || error.status >= 500) throw error
        })
        const [event, body] = written
        if (!event) return
        stored += 1
        EventItem.strict().parse(event)
        EventBodyItem.required().strict().parse(body)
        expect(event).not.toHaveProperty('body')
        const tasks = written.filter(({ kind }) => kind === 'route')
        for (const task of tasks) RouteTaskItem.strict().parse(task)
        expect(tasks).toHaveLength(event['status'] === 'received' ? 1 : 0)
      }),
      { numRuns: 300 },
    )
    expect(stored).toBeGreaterThan(50)
  })
})
