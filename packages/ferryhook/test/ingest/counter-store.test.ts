import { newId } from '@strongroom/kit/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorkbench, testWorlds, type Workbench } from '../support/test-stores.ts'

const HOUR_MS = 3_600_000

describe.each(testWorlds())('ingest counters on $name', (world) => {
  let bench: Workbench

  beforeAll(async () => {
    bench = await openWorkbench(world)
  })
  afterAll(() => bench.close())

  const tallyOf = (given: object) => ({
    sourceId: newId('src'),
    userId: newId('usr'),
    writerId: newId('wrt'),
    hour: bench.clock.now(),
    minute: 0,
    month: 0,
    unverified: 0,
    beyondMonth: 0,
    ...given,
  })

  test('the counts of several processes are added up by hour', async () => {
    const { ingestCounters: tallies } = bench.stores
    const sourceId = newId('src')
    const hour = bench.clock.now()
    const [one, other] = [newId('wrt'), newId('wrt')]
    await tallies.put(tallyOf({ sourceId, writerId: one, minute: 3 }))
    await tallies.put(tallyOf({ sourceId, writerId: one, minute: 5, month: 1 }))
    await tallies.put(tallyOf({ sourceId, writerId: other, minute: 2, beyondMonth: 4 }))
    await tallies.put(tallyOf({ sourceId, writerId: one, hour: hour + HOUR_MS, unverified: 9 }))
    await tallies.put(tallyOf({ minute: 100 }))
    const first = { hour, minute: 7, month: 1, unverified: 0, beyondMonth: 4 }
    const second = { hour: hour + HOUR_MS, minute: 0, month: 0, unverified: 9, beyondMonth: 0 }
    expect(await tallies.listBySource(sourceId, 0)).toEqual([first, second])
    expect(await tallies.listBySource(sourceId, hour + HOUR_MS - 1)).toEqual([first, second])
    expect(await tallies.listBySource(sourceId, hour + HOUR_MS)).toEqual([second])
  })

  test('a counter is retained for thirty days', async () => {
    const { ingestCounters: tallies } = bench.stores
    const sourceId = newId('src')
    await tallies.put(tallyOf({ sourceId, minute: 1 }))
    bench.clock.advance({ days: 29 })
    expect(await tallies.listBySource(sourceId, 0)).toHaveLength(1)
    bench.clock.advance({ days: 1 })
    expect(await tallies.listBySource(sourceId, 0)).toEqual([])
  })
})
