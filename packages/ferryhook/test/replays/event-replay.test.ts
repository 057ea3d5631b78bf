import { newId } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test, vi } from 'vitest'
import { openApi } from '../support/test-api.ts'
import { times } from '../support/test-stores.ts'
import { deliver, ownerOf, settleDue } from '../support/people.ts'

describe.each(serviceStores())('replaying events over HTTP, on $name', (store) => {
  const api = openApi(store)

  async function delivered(connections = 1, outcome: 'delivered' | 'failed' = 'delivered') {
    const owner = await ownerOf(api)
    const connectionIds: string[] = []
    for (let n = 0; n < connections; n++) {
      connectionIds.push((await api.connection(owner.person, owner.sourceId)).body.id)
    }
    const event = await owner.receive()
    await deliver(api, event, connectionIds, outcome)
    return { owner, event, eventId: event.eventId, connectionIds }
  }

  const audited = async (userId: string) =>
    (await api.stores.audit.listByUser(userId)).items.map(({ action }) => action)

  test('delivers to all connections in a new run, and keeps the history', async () => {
    const { owner, eventId, connectionIds } = await delivered(2)
    const { status, body } = await owner.ask('POST', `/events/${eventId}/replay`)
    expect(status).toBe(202)
    expect(body.deliveries).toHaveLength(2)
    for (const delivery of body.deliveries) {
      expect(delivery).toMatchObject({ run: 2, state: 'runnable', replayId: body.replayId })
    }
    await settleDue(api, eventId, 'failed')
    const after = (await owner.ask('GET', `/events/${eventId}`)).body
    expect(after).toMatchObject({ status: 'failed', replayedAt: expect.any(String) })
    expect(after.attempts.map(({ run }: { run: number }) => run).toSorted()).toEqual([1, 1, 2, 2])
    expect(after.deliveries.map((each: { connectionId: string }) => each.connectionId)).toEqual(
      connectionIds.toSorted(),
    )
    expect(await audited(owner.person.id)).toContain('event.replayed')
  })

  test('delivers to the named connections, even to one that is newer than the event', async () => {
    const { owner, eventId, connectionIds } = await delivered(1)
    const later = (await api.connection(owner.person, owner.sourceId)).body.id
    const { body } = await owner.ask('POST', `/events/${eventId}/replay`, {
      body: { connectionIds: [later, later] },
    })
    expect(body.deliveries).toMatchObject([{ connectionId: later, run: 1 }])
    const stranger = await delivered(1)
    for (const connectionId of [newId('conn'), ...stranger.connectionIds]) {
      const refused = await owner.ask('POST', `/events/${eventId}/replay`, {
        body: { connectionIds: [...connectionIds, connectionId] },
      })
      expect(refused.body.error.code).toBe('ferryhook.connection_not_found')
    }
    expect(await api.stores.deliveries.get(eventId, String(connectionIds[0]))).toMatchObject({
      run: 1,
    })
  })

  test('is rejected as a whole while a run is pending, and one of twenty concurrent replays succeeds', async () => {
    const { owner, eventId, connectionIds } = await delivered(2)
    const [first, second] = connectionIds
    const ask = (body: object) => owner.ask('POST', `/events/${eventId}/replay`, { body })
    const answers = await Promise.all(times(20, () => ask({ connectionIds: [first] })))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19)
    const all = await ask({})
    expect([all.status, all.body.error.code]).toEqual([409, 'ferryhook.run_open'])
    expect(all.body.error.data).toEqual({ connectionIds: [first] })
    expect(await api.stores.deliveries.get(eventId, String(second))).toMatchObject({ run: 1 })
    await settleDue(api, eventId)
    expect((await ask({})).status).toBe(202)
  })

  test('delivers an event that reached no connection to the current ones', async () => {
    const owner = await ownerOf(api)
    const event = await owner.receive()
    await deliver(api, event, [])
    const ask = () => owner.ask('POST', `/events/${event.eventId}/replay`)
    expect((await ask()).body.error.code).toBe('ferryhook.no_connections')
    await api.connection(owner.person, owner.sourceId)
    expect((await ask()).status).toBe(202)
    const { body } = await owner.ask('GET', `/events/${event.eventId}`)
    expect(body).toMatchObject({ status: 'processing', reason: null })
  })

  test('requires explicit acceptance of a forged event by an admin key, each time, and is audited', async () => {
    const { owner, connectionIds } = await delivered(1)
    const event = await owner.receive({ status: 'signature_failed', reason: 'mismatch' })
    const path = `/events/${event.eventId}/replay`
    const acceptUnverified = true
    const write = await api.key(owner.person, 'write')
    const admin = await api.key(owner.person, 'admin')
    const refused = [
      await owner.ask('POST', path),
      await owner.ask('POST', path, { token: admin, body: {} }),
      await owner.ask('POST', path, { token: admin, body: { acceptUnverified: false } }),
    ]
    for (const { status, body } of refused) {
      expect([status, body.error.code]).toEqual([403, 'ferryhook.unverified_event'])
    }
    const mayNot = await owner.ask('POST', path, { token: write, body: { acceptUnverified } })
    expect(mayNot.body.error).toMatchObject({
      code: 'ferryhook.permission_required',
      data: { permission: 'admin' },
    })
    expect(await api.stores.deliveries.listByEvent(event.eventId)).toEqual([])
    expect(await audited(owner.person.id)).not.toContain('event.replayed_unverified')

    const allowed = await owner.ask('POST', path, { token: admin, body: { acceptUnverified } })
    expect(allowed.status).toBe(202)
    expect(await audited(owner.person.id)).toContain('event.replayed_unverified')
    await settleDue(api, event.eventId)
    const after = await owner.ask('GET', `/events/${event.eventId}`)
    expect(after.body).toMatchObject({ status: 'delivered', unverified: true })
    expect((await owner.ask('POST', path)).body.error.code).toBe('ferryhook.unverified_event')
    const many = await owner.ask('POST', '/events/replay', {
      token: admin,
      body: { eventIds: [event.eventId], connectionIds },
    })
    expect(many.body.results).toMatchObject([{ error: { code: 'ferryhook.unverified_event' } }])
  })

  test('returns a result for each of many events', async () => {
    const { owner, event, connectionIds } = await delivered(1)
    const stranger = await delivered(1)
    const forged = await owner.receive({ status: 'signature_failed' })
    const open = await owner.receive()
    await deliver(api, open, connectionIds, 'retrying')
    const eventIds = [event, forged, open, stranger.event, event].map(({ eventId }) => eventId)
    const { status, body } = await owner.ask('POST', '/events/replay', { body: { eventIds } })
    expect(status).toBe(200)
    const codes = body.results.map(({ error }: { error: { code: string } | null }) => error?.code)
    expect(codes).toEqual([
      undefined,
      'ferryhook.unverified_event',
      'ferryhook.run_open',
      'ferryhook.event_not_found',
    ])
    expect(body.results[0].deliveries).toMatchObject([{ run: 2, replayId: body.replayId }])
    expect(await api.stores.deliveries.listByEvent(forged.eventId)).toEqual([])
    const acceptUnverified = { body: { eventIds, acceptUnverified: true } }
    expect((await owner.ask('POST', '/events/replay', acceptUnverified)).status).toBe(400)
  })

  test('does not treat an unreadable body as empty', async () => {
    const { owner, eventId } = await delivered(1)
    const replay = (headers: Record<string, string>, body: string) =>
      api.app.request(`/ferryhook/v1/events/${eventId}/replay`, {
        method: 'POST',
        headers: { authorization: `Bearer ${owner.person.token}`, ...headers },
        body,
      })
    expect((await replay({}, '{"connectionIds":[]}')).status).toBe(415)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await replay(form, '{"connectionIds":[]}')).status).toBe(415)
    const json = { 'content-type': 'application/json' }
    expect((await replay(json, '{"connectionIds":[]}')).status).toBe(400)
    expect((await replay(json, '{"connections":["x"]}')).status).toBe(400)
    expect((await replay(json, '{')).status).toBe(400)
    expect(await api.stores.deliveries.listByEvent(eventId)).toMatchObject([{ run: 1 }])
  })

  test('is rate limited', async () => {
    const { owner, eventId } = await delivered(1)
    for (let round = 0; round < 30; round++) {
      await Promise.all(times(10, () => api.stores.rateLimits.take('replay', owner.person.id)))
    }
    const { status, headers } = await owner.ask('POST', `/events/${eventId}/replay`)
    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('of many events writes one audit entry, with the first delivery', async () => {
    const { owner, eventId, connectionIds } = await delivered(2)
    const eventIds = [newId('evt'), eventId]
    for (let n = 0; n < 6; n++) {
      const event = await owner.receive()
      await deliver(api, event, connectionIds)
      eventIds.push(event.eventId)
    }
    const transactions = vi.spyOn(api.db, 'transactWriteItems')
    const { body } = await owner.ask('POST', '/events/replay', { body: { eventIds } })
    const entries = transactions.mock.calls.map(([{ TransactItems }]) =>
      TransactItems.flatMap(({ Put }) => (Put?.Item?.['action'] ? [Put.Item['target']] : [])),
    )
    transactions.mockRestore()
    const failed = body.results.filter(({ error }: { error: unknown }) => error !== null)
    expect([body.results.length, failed.length]).toEqual([8, 1])
    expect(entries.flat()).toEqual([body.replayId])
    expect(await audited(owner.person.id)).toContain('event.replayed')
  })
})
