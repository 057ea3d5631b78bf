import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { openApi } from '../support/test-api.ts'
import { allDue, deliveryTasksOf, required, routeTaskOf, times } from '../support/test-stores.ts'
import { deliver, ownerOf, settleDue } from '../support/people.ts'

describe.each(serviceStores())('a pending delivery over HTTP, on $name', (store) => {
  const api = openApi(store)

  async function retrying() {
    const owner = await ownerOf(api)
    const connection = (await api.connection(owner.person, owner.sourceId)).body
    const connectionId: string = connection.id
    const event = await owner.receive()
    const { eventId } = event
    await deliver(api, event, [connectionId], 'retrying')
    const act = (verb: string) =>
      owner.ask('POST', `/events/${eventId}/deliveries/${connectionId}/${verb}`)
    const state = async () => required(await api.stores.deliveries.get(eventId, connectionId))
    const status = async () => required(await api.stores.events.getById(eventId)).status
    return { owner, event, eventId, connectionId, act, state, status }
  }

  async function wakeAll(connectionId: string) {
    for (const task of await allDue(api.stores)) {
      if (task.kind !== 'wake' || task.connectionId !== connectionId) continue
      await api.stores.wakeUps.wakeUp(task, { limit: 10, nextWakeAt: api.clock.now() + 5_000 })
    }
  }

  test('whose first attempt runs is shown with its event, and actions and replays are refused', async () => {
    const owner = await ownerOf(api)
    const { id: connectionId } = (await api.connection(owner.person, owner.sourceId)).body
    const { eventId } = await owner.receive()
    const task = await routeTaskOf(api.stores, eventId)
    await api.stores.queue.claimRoute(task, api.clock.now() + 25_000)
    const { body } = await owner.ask('GET', `/events/${eventId}`)
    expect(body).toMatchObject({
      status: 'processing',
      deliveries: [{ connectionId, state: 'runnable', run: 1, attemptsMade: 0 }],
      attempts: [],
    })
    const listed = await owner.ask('GET', '/events?status=processing')
    expect(listed.body.items).toMatchObject([{ id: eventId, status: 'processing' }])
    const ofConnection = await owner.ask('GET', `/events?connection=${connectionId}`)
    expect(ofConnection.body.items).toMatchObject([{ id: eventId }])
    for (const verb of ['hold', 'release', 'retry', 'cancel']) {
      const one = await owner.ask('POST', `/events/${eventId}/deliveries/${connectionId}/${verb}`)
      expect([verb, one.status, one.body.error.code]).toEqual([
        verb,
        409,
        'ferryhook.delivery_in_progress',
      ])
    }
    const replayed = await owner.ask('POST', `/events/${eventId}/replay`)
    expect([replayed.status, replayed.body.error.code]).toEqual([409, 'ferryhook.run_open'])
  })

  test('is attempted immediately on request, with the number it would have had', async () => {
    const { eventId, act, state, status } = await retrying()
    expect(await deliveryTasksOf(api.stores, eventId)).toEqual([])
    const { status: answered, body } = await act('retry')
    expect(answered).toBe(200)
    expect(body).toMatchObject({ state: 'retrying', reason: 'http_500', nextAttemptAt: null })
    const due = await deliveryTasksOf(api.stores, eventId)
    expect(due).toMatchObject([{ attemptNumber: 2, run: 1 }])
    await settleDue(api, eventId)
    expect(await state()).toMatchObject({ state: 'delivered', attemptsMade: 2 })
    expect(await status()).toBe('delivered')
    api.clock.advance({ minutes: 1 })
    expect(await deliveryTasksOf(api.stores, eventId)).toEqual([])
  })

  test('ends when it is cancelled, keeps its attempts, and can be replayed', async () => {
    const { owner, eventId, act, state, status } = await retrying()
    expect((await act('cancel')).body).toMatchObject({ state: 'failed', reason: 'cancelled' })
    expect(await status()).toBe('failed')
    api.clock.advance({ minutes: 1 })
    expect(await deliveryTasksOf(api.stores, eventId)).toEqual([])
    expect(await api.stores.attempts.listByEvent(eventId)).toHaveLength(1)
    for (const verb of ['cancel', 'retry', 'hold', 'release']) {
      const { status: answered, body } = await act(verb)
      expect([answered, body.error.code]).toEqual([409, 'ferryhook.delivery_ended'])
    }
    expect((await owner.ask('POST', `/events/${eventId}/replay`)).status).toBe(202)
    expect(await state()).toMatchObject({ run: 2, state: 'runnable' })
  })

  test('that its owner holds stays held until it is released, whatever its connection does', async () => {
    const { owner, eventId, connectionId, act, state, status } = await retrying()
    expect((await act('release')).body.error.code).toBe('ferryhook.delivery_not_held')
    expect((await act('hold')).body).toMatchObject({ state: 'held', reason: 'hold' })
    expect((await act('hold')).status).toBe(200)
    expect(await status()).toBe('held')
    await owner.ask('POST', `/connections/${connectionId}/pause`)
    expect((await act('release')).body.error.code).toBe('ferryhook.connection_paused')
    await owner.ask('POST', `/connections/${connectionId}/resume`)
    api.clock.advance({ minutes: 31 })
    await wakeAll(connectionId)
    expect(await deliveryTasksOf(api.stores, eventId)).toEqual([])
    expect(await status()).toBe('held')
    expect((await act('release')).body).toMatchObject({ state: 'retrying' })
    await settleDue(api, eventId)
    expect(await state()).toMatchObject({ state: 'delivered', attemptsMade: 2 })
  })

  test('that is held for thirty days fails before it expires', async () => {
    const { eventId, connectionId, act, state, status } = await retrying()
    await act('hold')
    api.clock.advance({ days: 29 })
    await wakeAll(connectionId)
    expect(await status()).toBe('held')
    api.clock.advance({ hours: 23, minutes: 45 })
    await wakeAll(connectionId)
    expect(await state()).toMatchObject({ state: 'failed', reason: 'retention' })
    expect(await status()).toBe('failed')
    expect(await api.stores.events.getById(eventId)).not.toBeNull()
  })

  test('is attempted by exactly one of all concurrent workers and requests', async () => {
    for (const verb of ['retry', 'hold', 'cancel']) {
      const { eventId, connectionId, act, state } = await retrying()
      api.clock.advance({ seconds: 30 })
      const [task] = await deliveryTasksOf(api.stores, eventId)
      const claims = times(3, () =>
        api.stores.queue.claim(required(task), api.clock.now() + 25_000),
      )
      const [answer, ...leases] = await Promise.all([act(verb), ...claims])
      const leased = leases.filter((lease) => lease !== undefined)
      expect(leased.length + (answer.status === 200 ? 1 : 0), verb).toBe(1)
      if (leased.length === 0) continue
      expect(answer.body.error.code).toBe('ferryhook.delivery_in_progress')
      expect((await act('cancel')).status).toBe(409)
      expect(await state()).toMatchObject({ state: 'retrying', connectionId })
    }
  })

  test('of many events is cancelled, held, released or retried with one request, each event for itself', async () => {
    const owner = await ownerOf(api)
    const connect = async () =>
      (await api.connection(owner.person, owner.sourceId)).body.id as string
    const connectionIds = [await connect(), await connect()]
    const [first, second, ended] = await Promise.all(times(3, () => owner.receive()))
    for (const event of [first, second]) {
      await deliver(api, required(event), connectionIds, 'retrying')
    }
    await deliver(api, required(ended), connectionIds)
    const stranger = await retrying()
    const eventIds = [first, second, ended, stranger.event, first].map(
      (event) => required(event).eventId,
    )
    const act = async (action: string) => {
      const { status, body } = await owner.ask('POST', `/events/${action}`, { body: { eventIds } })
      expect(status).toBe(200)
      type Result = { eventId: string; deliveries: { state: string }[]; error: { code: string } }
      return (body.results as Result[]).map(({ eventId, deliveries, error }, index) => {
        expect(eventId).toBe(eventIds[index])
        return [deliveries.map(({ state }) => state).join(), error?.code]
      })
    }
    const others = (code: string) => [
      ['', `ferryhook.${code}`],
      ['', 'ferryhook.event_not_found'],
    ]
    const both = (state: string) => [
      [`${state},${state}`, undefined],
      [`${state},${state}`, undefined],
    ]
    expect(await act('hold')).toEqual([...both('held'), ...others('delivery_ended')])
    expect((await act('retry')).slice(0, 1)).toEqual([['', 'ferryhook.delivery_ended']])
    expect(await act('release')).toEqual([...both('retrying'), ...others('delivery_not_held')])
    for (const event of [first, second]) await settleDue(api, required(event).eventId, 'retrying')
    expect(await act('retry')).toEqual([...both('retrying'), ...others('delivery_ended')])
    for (const event of [first, second]) await settleDue(api, required(event).eventId, 'retrying')
    api.clock.advance({ seconds: 30 })
    const [task] = await deliveryTasksOf(api.stores, required(first).eventId)
    await api.stores.queue.claim(required(task), api.clock.now() + 25_000)
    expect(await act('cancel')).toEqual([
      ['failed', 'ferryhook.delivery_in_progress'],
      ['failed,failed', undefined],
      ...others('delivery_ended'),
    ])
    expect(await stranger.status()).toBe('retrying')
    const tooMany = times(101, () => required(first).eventId)
    for (const body of [{}, { eventIds: [] }, { eventIds: tooMany }]) {
      expect((await owner.ask('POST', '/events/cancel', { body })).status).toBe(400)
    }
    const reader = await api.key(owner.person, 'read')
    const denied = await owner.ask('POST', '/events/cancel', { body: { eventIds }, token: reader })
    expect(denied.body.error.code).toBe('ferryhook.permission_required')
  })

  test('of many events is acted on sixty times a minute', async () => {
    const owner = await ownerOf(api)
    const act = async () => {
      const body = { eventIds: ['evt_AAAAAAAAAAAAAAAA'] }
      return (await owner.ask('POST', '/events/cancel', { body })).status
    }
    for (let call = 0; call < 60; call++) expect(await act()).toBe(200)
    expect(await act()).toBe(429)
    api.clock.advance({ minutes: 2 })
    expect(await act()).toBe(200)
  })

  test('to a connection that has no delivery of the event is not found', async () => {
    const { owner, eventId } = await retrying()
    const other = await retrying()
    for (const connectionId of [other.connectionId, 'nonsense']) {
      const path = `/events/${eventId}/deliveries/${connectionId}/cancel`
      expect((await owner.ask('POST', path)).body.error.code).toBe('ferryhook.delivery_not_found')
    }
  })
})
