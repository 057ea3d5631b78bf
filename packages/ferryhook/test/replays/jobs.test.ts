import { serviceStores } from '@strongroom/kit/testing/stores'
import { silentLog } from '@strongroom/kit/log'
import { describe, expect, test } from 'vitest'
import { createReplayRunner } from '../../src/replays/runner.ts'
import { openApi } from '../support/test-api.ts'
import { testTimers } from '@strongroom/kit/testing/test-timers'
import { deliver, ownerOf, settleDue } from '../support/people.ts'
import { deliveryTasksOf, routeTaskOf } from '../support/test-stores.ts'

describe.each(serviceStores())('a replay job over HTTP, on $name', (store) => {
  const api = openApi(store)

  const run = () => {
    const { stores, clock } = api
    const startTimer = testTimers(clock).start
    return createReplayRunner({ stores, clock, startTimer, log: silentLog, onReplayed: () => {} })
  }

  async function sourceWith(events: number) {
    const owner = await ownerOf(api)
    const connectionId: string = (await api.connection(owner.person, owner.sourceId)).body.id
    const from = new Date(api.clock.now()).toISOString()
    const made: string[] = []
    for (let n = 0; n < events; n++) {
      api.clock.advance({ seconds: 1 })
      const event = await owner.receive()
      await deliver(api, event, [connectionId])
      made.push(event.eventId)
    }
    const { sourceId } = owner
    const start = (given: object = {}) =>
      owner.ask('POST', '/replays', { body: { sourceId, from, ...given } })
    return { owner, sourceId, connectionId, from, made, start }
  }

  test('reports its progress, and finishes by itself', async () => {
    const { owner, sourceId, connectionId, from, start } = await sourceWith(4)
    const { status, body } = await start({ perSecond: 2, status: 'delivered' })
    expect(status).toBe(202)
    expect(body).toMatchObject({
      sourceId,
      connectionIds: [connectionId],
      from,
      to: new Date(api.clock.now()).toISOString(),
      status: 'delivered',
      perSecond: 2,
      state: 'running',
      progress: 0,
      events: { examined: 0, matched: 0, unverified: 0, gone: 0 },
      deliveries: { replayed: 0, runOpen: 0 },
    })
    const look = async () => (await owner.ask('GET', `/replays/${body.id}`)).body
    await run().runOnce()
    expect(await look()).toMatchObject({
      state: 'running',
      progress: 0.5,
      deliveries: { replayed: 2 },
    })
    api.clock.advance({ seconds: 1 })
    await run().runOnce()
    expect(await look()).toMatchObject({
      state: 'done',
      progress: 1,
      events: { examined: 4, matched: 4 },
      deliveries: { replayed: 4, runOpen: 0 },
    })
    const over = await owner.ask('DELETE', `/replays/${body.id}`)
    expect([over.status, over.body.error.code]).toEqual([409, 'ferryhook.replay_ended'])
    const { items } = (await owner.ask('GET', '/replays')).body
    expect(items).toMatchObject([{ id: body.id, state: 'done' }])
  })

  /** An event with one delivery in the state and one that succeeded. */
  async function partlyDelivered(state: 'failed' | 'retrying') {
    const owner = await ownerOf(api)
    const { sourceId } = owner
    const broken: string = (await api.connection(owner.person, sourceId)).body.id
    const healthy: string = (await api.connection(owner.person, sourceId)).body.id
    const from = new Date(api.clock.now()).toISOString()
    const { eventId } = await owner.receive()
    const targets = [broken, healthy].map((connectionId) => ({ connectionId }))
    await api.stores.routing.route(await routeTaskOf(api.stores, eventId), targets)
    await settleDue(api, eventId, (id) => (id === broken ? state : 'delivered'))
    const start = async (given: object = {}) => {
      const body = { sourceId, from, status: state, ...given }
      const { id } = (await owner.ask('POST', '/replays', { body })).body
      await run().runOnce()
      return (await owner.ask('GET', `/replays/${id}`)).body
    }
    const due = async () =>
      (await deliveryTasksOf(api.stores, eventId)).map(({ connectionId }) => connectionId)
    return { owner, eventId, broken, healthy, start, due }
  }

  test('estimates its end from the pace so far, and names who started it', async () => {
    const { owner, start } = await sourceWith(4)
    const { body } = await start({ perSecond: 1 })
    const startedAt = api.clock.now()
    expect(body).toMatchObject({ estimatedEndAt: null, createdBy: `user:${owner.person.id}` })
    const look = async () => (await owner.ask('GET', `/replays/${body.id}`)).body
    await run().runOnce()
    expect(await look()).toMatchObject({ progress: 0.25, estimatedEndAt: null })
    api.clock.advance({ seconds: 10 })
    await run().runOnce()
    const expected = new Date(startedAt + 20_000).toISOString()
    expect(await look()).toMatchObject({ progress: 0.5, estimatedEndAt: expected })
    const cancelled = (await owner.ask('DELETE', `/replays/${body.id}`)).body
    expect(cancelled).toMatchObject({ state: 'cancelled', progress: 0.5, estimatedEndAt: null })
  })

  test('of failed events replays the failed deliveries only', async () => {
    const { broken, start, due } = await partlyDelivered('failed')
    expect(await start()).toMatchObject({
      state: 'done',
      allConnections: false,
      events: { matched: 1 },
      deliveries: { replayed: 1, runOpen: 0 },
    })
    expect(await due()).toEqual([broken])
  })

  test('of failed events replays to all connections on request', async () => {
    const { broken, healthy, start, due } = await partlyDelivered('failed')
    expect(await start({ allConnections: true })).toMatchObject({
      allConnections: true,
      deliveries: { replayed: 2 },
    })
    expect((await due()).toSorted()).toEqual([broken, healthy].toSorted())
  })

  test('of failed events replays nothing to a chosen connection that succeeded', async () => {
    const { healthy, start, due } = await partlyDelivered('failed')
    expect(await start({ connectionIds: [healthy] })).toMatchObject({
      events: { matched: 1 },
      deliveries: { replayed: 0, runOpen: 0 },
    })
    expect(await due()).toEqual([])
  })

  test('of retrying events makes the next attempts now and leaves the others alone', async () => {
    const { eventId, broken, start, due } = await partlyDelivered('retrying')
    expect(await due()).toEqual([])
    expect(await start()).toMatchObject({
      state: 'done',
      events: { matched: 1 },
      deliveries: { replayed: 1, runOpen: 0 },
    })
    expect(await due()).toEqual([broken])
    const runs = await api.stores.deliveries.listByEvent(eventId)
    expect(runs).toMatchObject([{ run: 1 }, { run: 1 }])
    // Nobody has claimed the attempt yet, so a second job finds it in progress.
    expect(await start()).toMatchObject({ deliveries: { replayed: 0, runOpen: 1 } })
  })

  test('replays events of a type only, and shows the name of its source', async () => {
    const { owner, connectionId, start } = await sourceWith(1)
    const typed = await owner.receive({ eventType: 'invoice.paid' })
    await deliver(api, typed, [connectionId])
    const { body } = await start({ type: 'invoice.*' })
    expect(body).toMatchObject({ type: 'invoice.*', sourceName: 'Shop' })
    await run().runOnce()
    expect((await owner.ask('GET', `/replays/${body.id}`)).body).toMatchObject({
      events: { examined: 2, matched: 1 },
      sourceName: 'Shop',
    })
    expect(await deliveryTasksOf(api.stores, typed.eventId)).toHaveLength(1)
    expect((await owner.ask('GET', '/replays')).body.items).toMatchObject([{ sourceName: 'Shop' }])
  })

  test('can be cancelled, even twice', async () => {
    const { owner, made, start } = await sourceWith(2)
    const { id } = (await start({ perSecond: 1 })).body
    await run().runOnce()
    for (const _ of [1, 2]) {
      const { status, body } = await owner.ask('DELETE', `/replays/${id}`)
      expect([status, body.state]).toEqual([200, 'cancelled'])
    }
    api.clock.advance({ seconds: 5 })
    await run().runOnce()
    expect((await api.stores.deliveries.listByEvent(String(made[1])))[0]).toMatchObject({ run: 1 })
    const actions = (await api.stores.audit.listByUser(owner.person.id)).items
    expect(actions.map(({ action }) => action)).toContain('replay.cancelled')
  })

  test('is rejected with an explanation if it is invalid, and nothing starts', async () => {
    const { owner, sourceId, start } = await sourceWith(1)
    const bare = await ownerOf(api)
    const wrong: [object, string][] = [
      [{ status: 'signature_failed' }, 'ferryhook.unverified_replay'],
      [{ connectionIds: ['conn_AAAAAAAAAAAAAAAA'] }, 'ferryhook.connection_not_found'],
      [{ connectionIds: [] }, 'request.invalid'],
      [{ perSecond: 0 }, 'request.invalid'],
      [{ from: undefined }, 'request.invalid'],
      [{ to: '2099-01-01T00:00:00Z' }, 'request.invalid'],
      [{ acceptUnverified: true }, 'request.invalid'],
      [{ sourceId: bare.sourceId }, 'ferryhook.source_not_found'],
    ]
    for (const [given, code] of wrong) {
      expect((await start(given)).body.error.code, JSON.stringify(given)).toBe(code)
    }
    const nowhere = await bare.ask('POST', '/replays', {
      body: { sourceId: bare.sourceId, from: '2100-01-01T00:00:00Z' },
    })
    expect(nowhere.body.error.code).toBe('ferryhook.no_connections')
    expect((await owner.ask('GET', '/replays')).body.items).toEqual([])
    expect(await api.stores.events.listBySource(sourceId)).toMatchObject({ items: [{}] })
  })

  test('of another user is not found, like one that does not exist', async () => {
    const { start } = await sourceWith(1)
    const { id } = (await start()).body
    const stranger = await ownerOf(api)
    for (const method of ['GET', 'DELETE']) {
      const [theirs, nobodys] = [
        await stranger.ask(method, `/replays/${id}`),
        await stranger.ask(method, '/replays/rpl_AAAAAAAAAAAAAAAA'),
      ]
      expect([theirs.status, theirs.text]).toEqual([404, nobodys.text])
    }
    expect((await stranger.ask('GET', '/replays')).body.items).toEqual([])
    await run().runOnce()
  })
})
