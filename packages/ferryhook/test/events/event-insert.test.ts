import type { Db } from '@strongroom/kit/db'
import { newId } from '@strongroom/kit/ids'
import { retryingDb } from '@strongroom/kit/retrying-db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { createCursors } from '@strongroom/kit/cursor'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStores } from '../../src/stores.ts'
import {
  allDue,
  eventInput,
  storesOn,
  losingAnswers,
  openWorkbench,
  outcomes,
  serviceWorlds,
  times,
  type Workbench,
} from '../support/test-stores.ts'

describe.each(serviceWorlds())('the monthly quota on $name', (world) => {
  let bench: Workbench

  beforeAll(async () => {
    bench = await openWorkbench(world)
  })
  afterAll(() => bench.close())

  test('stores as many of twenty concurrent events as the month has left', async () => {
    const { events } = bench.stores
    const quota = { month: '2100-01-01', limit: 7 }
    const { sourceId, userId } = eventInput()
    const ends = await outcomes(
      times(20, () => events.create(eventInput({ sourceId, userId, quota }))),
    )
    expect(ends.filter((end) => end === 'month_limit')).toHaveLength(13)
    expect((await events.listBySource(sourceId)).items).toHaveLength(7)
    const later = { month: '2100-02-01', limit: 7 }
    await events.create(eventInput({ sourceId, userId, quota: later }))
  })

  test('is not used by duplicates, which are recognized even after it is used up', async () => {
    const { events } = bench.stores
    const { userId, ...input } = eventInput({ dedupKey: 'x', quota: { month: 'm', limit: 2 } })
    const send = (sourceId: string) => events.create({ ...input, userId, sourceId })
    await send(input.sourceId)
    expect(await outcomes(times(3, () => send(input.sourceId)))).toEqual(
      times(3, () => 'duplicate'),
    )
    await send(newId('src'))
    expect(await outcomes([send(input.sourceId)])).toEqual(['duplicate'])
    expect(await outcomes([send(newId('src'))])).toEqual(['month_limit'])
  })

  test('is not used by events that failed verification', async () => {
    const { events } = bench.stores
    const input = eventInput({ quota: { month: 'm', limit: 1 } })
    await events.create({ ...input, status: 'signature_failed' })
    expect(await events.create(input)).toMatchObject({ status: 'received' })
  })
})

describe.each(serviceStores())('storing events on $name', (store) => {
  let bench: Workbench

  beforeAll(async () => {
    bench = await openWorkbench({ store })
  })
  afterAll(() => bench.close())

  const quotaOf = ({ userId }: { userId: string }) =>
    bench.stored('ferryhook-events', { PK: `QUOTA#${userId}`, SK: 'm' })

  test.each([1, 2])(
    'an event is stored once, under the returned id, although %i responses of the store were lost',
    async (lost) => {
      const stores = storesOn(losingAnswers(bench.db, lost), bench.clock)
      for (const dedupKey of [undefined, 'named']) {
        const input = eventInput({ dedupKey, quota: { month: 'm', limit: 5 } })
        const event = await stores.events.create(input)
        expect((await bench.stores.events.listBySource(input.sourceId)).items).toEqual([event])
        expect(await quotaOf(input)).toMatchObject({ events: 1 })
      }
    },
  )

  test('after three lost responses the sender has to retry, and gets the id of the first attempt', async () => {
    const stores = storesOn(losingAnswers(bench.db, 3), bench.clock)
    const input = eventInput({ dedupKey: 'named', quota: { month: 'm', limit: 5 } })
    expect(await outcomes([stores.events.create(input)])).toEqual(['TimeoutError'])
    expect(await outcomes([stores.events.create(input)])).toEqual(['duplicate'])
    expect((await bench.stores.events.listBySource(input.sourceId)).items).toHaveLength(1)
    expect(await quotaOf(input)).toMatchObject({ events: 1 })
  })

  /** Stores whose transactions fail, each after this many milliseconds on the clock. */
  function failing(name: string, ms: number, seen: { attempts: number }) {
    const db: Db = {
      ...bench.db,
      transactWriteItems: async () => {
        seen.attempts += 1
        bench.clock.advance({ ms })
        throw Object.assign(new Error('Not now'), { name })
      },
    }
    const cursors = createCursors(new Uint8Array(32).fill(1))
    const pause = async () => {}
    const retrying = retryingDb(db, { attempts: 1, pause })
    return createStores({ db: retrying, clock: bench.clock, cursors })
  }

  test('no write of an event starts more than thirty seconds after its receipt', async () => {
    const seen = { attempts: 0 }
    const stores = failing('TimeoutError', 16_000, seen)
    expect(await outcomes([stores.events.create(eventInput())])).toEqual(['StoreBusy'])
    expect(seen.attempts).toBe(2)

    const receivedAt = bench.clock.now() - 30_001
    const input = eventInput({ receivedAt })
    expect(await outcomes([bench.stores.events.create(input)])).toEqual(['StoreBusy'])
    expect((await bench.stores.events.listBySource(input.sourceId)).items).toEqual([])
    const due = await allDue(bench.stores)
    expect(due.filter((task) => 'sourceId' in task && task.sourceId === input.sourceId)).toEqual([])
    await bench.stores.events.create(eventInput({ receivedAt: bench.clock.now() - 30_000 }))
  })

  test('an error that is not a lost response is not retried', async () => {
    const seen = { attempts: 0 }
    const stores = failing('ResourceNotFoundException', 0, seen)
    expect(await outcomes([stores.events.create(eventInput())])).toEqual([
      'ResourceNotFoundException',
    ])
    expect(seen.attempts).toBe(1)
  })
})
