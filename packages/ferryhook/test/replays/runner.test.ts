import { silentLog } from '@strongroom/kit/log'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CreateReplayInput } from '../../src/replays/store.ts'
import type { Stores } from '../../src/stores.ts'
import { createReplayRunner } from '../../src/replays/runner.ts'
import { testTimers } from '@strongroom/kit/testing/test-timers'
import {
  attemptResult,
  connectionInput,
  deliveryTasksOf,
  eventInput,
  storesOn,
  openWorkbench,
  required,
  routeTaskOf,
  serviceWorlds,
  type Workbench,
} from '../support/test-stores.ts'

describe.each(serviceWorlds())('a replay job on $name', (world) => {
  let bench: Workbench
  let stores: Stores

  beforeAll(async () => {
    bench = await openWorkbench(world)
    stores = bench.stores
  })
  afterAll(() => bench.close())

  /** A runner of another process, with stores that may fail. */
  function runnerOn(given: Stores = storesOn(bench.db, bench.clock, world.hostility)) {
    const { clock } = bench
    const startTimer = testTimers(clock).start
    const onReplayed = () => {}
    return createReplayRunner({ stores: given, clock, startTimer, log: silentLog, onReplayed })
  }

  async function settle(eventId: string, state: 'delivered' | 'failed') {
    for (const task of await deliveryTasksOf(stores, eventId)) {
      const leased = required(await stores.queue.claim(task, bench.clock.now() + 25_000))
      const attempt = attemptResult(bench.clock)
      await stores.settlement.settle(leased, { state, attempt, reason: 'exhausted' })
    }
  }

  /** A source with failed events and others. */
  async function failedEvents(count: number, { connections = 1 } = {}) {
    const made = await stores.connections.create(connectionInput())
    const { sourceId, userId } = made
    const connectionIds = [made.connectionId]
    while (connectionIds.length < connections) {
      const more = await stores.connections.create(connectionInput({ sourceId, userId }))
      connectionIds.push(more.connectionId)
    }
    const from = bench.clock.now()
    const eventIds: string[] = []
    for (let n = 0; n < count; n++) {
      bench.clock.advance({ ms: 10 })
      const { eventId } = await stores.events.create(eventInput({ sourceId, userId, plan: 'team' }))
      const targets = connectionIds.map((connectionId) => ({ connectionId }))
      await stores.routing.route(await routeTaskOf(stores, eventId), targets)
      await settle(eventId, 'failed')
      eventIds.push(eventId)
    }
    const start = (given: Partial<CreateReplayInput> = {}) =>
      stores.replays.create({
        userId,
        sourceId,
        connectionIds,
        from,
        to: bench.clock.now(),
        perSecond: 100,
        createdBy: 'test',
        ...given,
      })
    return { sourceId, userId, connectionIds, eventIds, start, input: { sourceId, userId } }
  }

  const progress = async ({ userId, replayId }: { userId: string; replayId: string }) =>
    required(await stores.replays.get(userId, replayId))

  const runsOf = async (eventId: string) =>
    (await stores.deliveries.listByEvent(eventId)).map(({ run }) => run)

  test('replays the matching events only, and reports what it skipped', async () => {
    const { eventIds, input, start, connectionIds, sourceId, userId } = await failedEvents(3)
    const [first = '', second = '', third = ''] = eventIds
    await stores.deliveries.replay(second, String(connectionIds[0]))
    const forged = await stores.events.create(eventInput({ ...input, status: 'signature_failed' }))
    const replay = await start()
    bench.clock.advance({ ms: 1 })
    const later = await stores.events.create(eventInput(input))
    await runnerOn().runOnce()
    expect(await progress(replay)).toMatchObject({
      state: 'done',
      counts: { examined: 4, matched: 3, replayed: 2, runOpen: 1, unverified: 1, gone: 0 },
    })
    expect(await Promise.all([first, second, third].map(runsOf))).toEqual([[2], [2], [2]])
    expect(await runsOf(forged.eventId)).toEqual([])
    expect(await runsOf(later.eventId)).toEqual([])
    const failed = await start({ status: 'failed', sourceId, userId })
    await runnerOn().runOnce()
    expect(await progress(failed)).toMatchObject({ state: 'done', counts: { matched: 0 } })
  })

  test('finds events by text in the body', async () => {
    const { input, start } = await failedEvents(1)
    const body = Buffer.from('{"city":"Berlin"}')
    const { eventId } = await stores.events.create(eventInput({ ...input, body }))
    const replay = await start({ body: 'berlin' })
    await runnerOn().runOnce()
    expect(await progress(replay)).toMatchObject({ counts: { examined: 2, matched: 1 } })
    expect(await runsOf(eventId)).toEqual([1])
  })

  test('keeps its rate, one second at a time', async () => {
    const { start } = await failedEvents(5, { connections: 2 })
    const replay = await start({ perSecond: 4 })
    const runner = runnerOn()
    const replayed = async () => (await progress(replay)).counts.replayed
    await runner.runOnce()
    expect(await replayed()).toBe(4)
    await runner.runOnce()
    bench.clock.advance({ ms: 999 })
    await runner.runOnce()
    expect(await replayed()).toBe(4)
    bench.clock.advance({ ms: 1 })
    await runner.runOnce()
    expect(await replayed()).toBe(8)
    bench.clock.advance({ seconds: 1 })
    await runner.runOnce()
    expect(await progress(replay)).toMatchObject({ state: 'done', counts: { replayed: 10 } })
  })

  test('stops when it is cancelled, and started deliveries continue', async () => {
    const { start, eventIds, userId } = await failedEvents(4)
    const replay = await start({ perSecond: 2 })
    const runner = runnerOn()
    await runner.runOnce()
    expect(await stores.replays.cancel(userId, replay.replayId)).toMatchObject({
      kind: 'cancelled',
      replay: { state: 'cancelled' },
    })
    bench.clock.advance({ seconds: 10 })
    await runner.runOnce()
    expect(await progress(replay)).toMatchObject({ state: 'cancelled', counts: { replayed: 2 } })
    expect((await Promise.all(eventIds.map(runsOf))).flat()).toEqual([2, 2, 1, 1])
    expect(await stores.replays.listDue()).toEqual([])
  })

  test('skips connections that are deleted concurrently, and is cancelled when none is left', async () => {
    const { start, eventIds, connectionIds, sourceId } = await failedEvents(4, { connections: 2 })
    const replay = await start({ perSecond: 2 })
    const runner = runnerOn()
    await runner.runOnce()
    const [first = '', second = ''] = connectionIds
    await stores.connections.delete(first, { sourceId })
    bench.clock.advance({ seconds: 1 })
    await runner.runOnce()
    expect((await progress(replay)).counts).toMatchObject({ matched: 2, replayed: 3 })
    expect(await stores.deliveries.get(String(eventIds[1]), first)).toMatchObject({ run: 1 })
    expect(await stores.deliveries.get(String(eventIds[1]), second)).toMatchObject({ run: 2 })
    await stores.connections.delete(second, { sourceId })
    bench.clock.advance({ seconds: 1 })
    await runner.runOnce()
    expect(await progress(replay)).toMatchObject({ state: 'cancelled', counts: { replayed: 3 } })
    expect(await runsOf(String(eventIds[2]))).toEqual([1, 1])
    expect(await stores.replays.listDue()).toEqual([])
  })

  test('runs each step once with many concurrent runners', async () => {
    const { start, eventIds } = await failedEvents(6)
    const replay = await start({ perSecond: 3 })
    for (let second = 0; second < 3; second++) {
      await Promise.all([runnerOn(), runnerOn(), runnerOn()].map((runner) => runner.runOnce()))
      bench.clock.advance({ seconds: 1 })
    }
    expect(await progress(replay)).toMatchObject({
      state: 'done',
      counts: { examined: 6, matched: 6, replayed: 6, runOpen: 0 },
    })
    expect((await Promise.all(eventIds.map(runsOf))).flat()).toEqual([2, 2, 2, 2, 2, 2])
  })

  /** The call before or after which the process crashes. */
  const deaths = ['begin', 'replay', 'replayed', 'advance'] as const

  test.each(deaths)(
    'continues after a crash at "%s", replays nothing twice, and counts correctly',
    async (death) => {
      // Selected by status, which the replay itself changes.
      const { start, eventIds } = await failedEvents(4)
      const replay = await start({ status: 'failed', perSecond: 4 })
      const dying = storesOn(bench.db, bench.clock, world.hostility)
      const die = () => Promise.reject(new Error('The process has died'))
      let calls = 0
      const { replays, deliveries } = dying
      const runner = runnerOn({
        ...dying,
        replays: {
          ...replays,
          startStep: (...given) => (death === 'begin' ? die() : replays.startStep(...given)),
          finishStep: (...given) => (death === 'advance' ? die() : replays.finishStep(...given)),
        },
        deliveries: {
          ...deliveries,
          async replay(...given) {
            const call = ++calls
            if (death === 'replay' && call > 2) return die()
            const made = await deliveries.replay(...given)
            return death === 'replayed' && call === 3 ? die() : made
          },
        },
      })
      await runner.runOnce()
      expect(await progress(replay)).toMatchObject({ state: 'running', counts: { replayed: 0 } })
      // Deliver what was replayed before the crash, so that no pending run protects it.
      for (const eventId of eventIds) await settle(eventId, 'delivered')
      await runnerOn().runOnce()
      expect(await progress(replay)).toMatchObject({ state: 'running' })
      bench.clock.advance({ seconds: 90 })
      await runnerOn().runOnce()
      expect(await progress(replay)).toMatchObject({
        state: 'done',
        counts: { examined: 4, matched: 4, replayed: 4, runOpen: 0 },
      })
      expect((await Promise.all(eventIds.map(runsOf))).flat()).toEqual([2, 2, 2, 2])
    },
  )
})
