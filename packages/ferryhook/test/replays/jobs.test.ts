import { serviceStores } from '@strongroom/kit/testing/stores'
import { silentLog } from '@strongroom/kit/log'
import { describe, expect, test } from 'vitest'
import { createReplayRunner } from '../../src/replays/runner.ts'
import { openApi } from '../support/test-api.ts'
import { testTimers } from '@strongroom/kit/testing/test-timers'
import { deliver, ownerOf } from '../support/people.ts'

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
