import { newId } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test, vi } from 'vitest'
import { hostileDb } from '@strongroom/kit/testing/hostile-db'
import { eventsTable } from '../../src/tables.ts'
import { openApi } from '../support/test-api.ts'
import { deliver, ownerOf } from '../support/people.ts'
import { required, routeTaskOf } from '../support/test-stores.ts'

describe.each(serviceStores())('an event over HTTP, on $name', (store) => {
  const api = openApi(store)

  test('is found through the index of event ids', async () => {
    const owner = await ownerOf(api)
    const { eventId } = await owner.receive()
    const queries = vi.spyOn(api.db, 'query')
    expect((await owner.ask('GET', `/events/${eventId}`)).status).toBe(200)
    const asked = queries.mock.calls.map(([{ IndexName, ExpressionAttributeValues = {} }]) => [
      IndexName,
      Object.values(ExpressionAttributeValues)[0],
    ])
    queries.mockRestore()
    expect(asked).toContainEqual(['GSI1', `EVTID#${eventId}`])
  })

  test('shows its headers, body, deliveries and every attempt', async () => {
    const owner = await ownerOf(api)
    const first = (await api.connection(owner.person, owner.sourceId)).body.id
    const second = (await api.connection(owner.person, owner.sourceId)).body.id
    const event = await owner.receive({ query: 'a=1', headers: '{"x-a":["1","2"],"x-b":"3"}' })
    await deliver(api, event, [first, second], 'retrying')
    const { status, body } = await owner.ask('GET', `/events/${event.eventId}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: event.eventId,
      sourceId: owner.sourceId,
      status: 'retrying',
      reason: null,
      unverified: false,
      method: 'POST',
      query: 'a=1',
      contentType: 'application/json',
      headers: { 'x-a': ['1', '2'], 'x-b': '3' },
      body: '{"type":"invoice.paid"}',
      encoding: 'utf-8',
      bodyBytes: 23,
      receivedAt: new Date(event.receivedAt).toISOString(),
    })
    const nextAttemptAt = new Date(api.clock.now() + 30_000).toISOString()
    expect(body.deliveries).toHaveLength(2)
    expect(body.sourceName).toBe('Shop')
    for (const delivery of body.deliveries) {
      expect([first, second]).toContain(delivery.connectionId)
      expect(delivery.connectionName).toBe('To the shop')
      expect(delivery).toMatchObject({ state: 'retrying', run: 1, attemptsMade: 1, nextAttemptAt })
    }
    expect(body.attempts).toHaveLength(2)
    expect(body.attempts[0]).toMatchObject({
      connectionName: 'To the shop',
      responseHeaders: null,
      number: 1,
      run: 1,
      statusCode: 500,
      responseBody: 'no',
      latencyMs: 12,
    })
    const list = await owner.ask('GET', `/sources/${owner.sourceId}/events`)
    expect(list.body.items[0]).toMatchObject({
      id: event.eventId,
      status: 'retrying',
      deliveries: { retrying: 2, delivered: 0 },
    })
    expect(list.text).not.toContain('invoice.paid')
  })

  test.each([
    ['text with a byte order mark', Buffer.from('\uFEFF{"a": 1.0}\n')],
    ['bytes that are not text', Buffer.from([0xff, 0x00, 0xfe])],
    ['an empty body', Buffer.alloc(0)],
    ['the maximum size', Buffer.alloc(262_144, 'ä')],
  ])('returns its body byte by byte: %s', async (_, bytes) => {
    const owner = await ownerOf(api)
    const { eventId } = await owner.receive({ body: bytes })
    const { body } = await owner.ask('GET', `/events/${eventId}`)
    const encoding = body.encoding === 'base64' ? 'base64' : 'utf-8'
    expect(Buffer.from(body.body, encoding).equals(bytes)).toBe(true)
    const answer = await api.app.request(`/ferryhook/v1/events/${eventId}/body`, {
      headers: { authorization: `Bearer ${owner.person.token}` },
    })
    expect(answer.status).toBe(200)
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true)
    expect(answer.headers.get('content-type')).toBe('application/octet-stream')
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${eventId}"`)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('of another user is not found, like one that does not exist', async () => {
    const owner = await ownerOf(api)
    const { eventId } = await owner.receive()
    const connectionId = (await api.connection(owner.person, owner.sourceId)).body.id
    await deliver(api, { eventId }, [connectionId], 'retrying')
    const stranger = await ownerOf(api)
    const from = '2100-01-01T00:00:00Z'
    const asked = [
      ['GET', `/events/ID`],
      ['GET', `/events/ID/body`],
      ['POST', `/events/ID/replay`, {}],
      ['POST', `/events/ID/deliveries/${connectionId}/hold`],
      ['POST', `/events/ID/deliveries/${connectionId}/release`],
      ['POST', `/events/ID/deliveries/${connectionId}/retry`],
      ['POST', `/events/ID/deliveries/${connectionId}/cancel`],
    ] as const
    for (const [method, path, body] of asked) {
      const ask = (id: string) => stranger.ask(method, path.replace('ID', id), { body })
      const [theirs, nobodys] = [await ask(eventId), await ask('evt_AAAAAAAAAAAAAAAA')]
      expect([theirs.status, theirs.text], path).toEqual([404, nobodys.text])
      expect(theirs.body.error.code).toBe('ferryhook.event_not_found')
    }
    const ofSource = [
      ['GET', '/sources/ID/events'],
      ['GET', '/sources/ID/stream'],
      ['GET', '/analytics/overview?sourceId=ID'],
      ['POST', '/replays', { sourceId: 'ID', from }],
    ] as const
    for (const [method, path, body] of ofSource) {
      const ask = (id: string) =>
        stranger.ask(method, path.replace('ID', id), {
          body: body && { ...body, sourceId: id },
        })
      const [theirs, nobodys] = [await ask(owner.sourceId), await ask('src_AAAAAAAAAAAAAAAA')]
      expect([theirs.status, theirs.text], path).toEqual([404, nobodys.text])
    }
    expect(await api.stores.deliveries.get(eventId, connectionId)).toMatchObject({
      state: 'retrying',
    })
  })

  test('can be read with a read key, and changed with a write key only', async () => {
    const owner = await ownerOf(api)
    const { eventId } = await owner.receive()
    const read = await api.key(owner.person, 'read')
    const looked = ['/events/ID', '/events/ID/body', '/replays', '/usage', '/analytics/overview']
    for (const path of looked) {
      const answer = await api.app.request(`/ferryhook/v1${path.replace('ID', eventId)}`, {
        headers: { authorization: `Bearer ${read}` },
      })
      expect(answer.status, path).toBe(200)
    }
    const changed = [
      ['POST', `/events/${eventId}/replay`, {}],
      ['POST', '/events/replay', { eventIds: [eventId] }],
      ['POST', '/replays', { sourceId: owner.sourceId, from: '2100-01-01T00:00:00Z' }],
      ['DELETE', '/replays/rpl_AAAAAAAAAAAAAAAA'],
      ['POST', `/events/${eventId}/deliveries/conn_AAAAAAAAAAAAAAAA/cancel`],
    ] as const
    for (const [method, path, body] of changed) {
      const answer = await owner.ask(method, path, { token: read, body })
      expect([answer.status, answer.body.error.code], path).toEqual([
        403,
        'ferryhook.permission_required',
      ])
    }
    expect((await api.ask('GET', `/events/${eventId}`)).status).toBe(401)
  })
})

describe.each(serviceStores())('an event on $name whose index is stale', (store) => {
  const api = openApi({
    ...store,
    async open() {
      const { db, close } = await store.open()
      const stale = hostileDb(db, { seed: 1, staleIndex: 1 })
      // Ingest finds sources in an index of the other table.
      const query: typeof db.query = (input) =>
        input.TableName === eventsTable.name ? stale.query(input) : db.query(input)
      return { db: { ...stale, query }, close }
    },
  })

  test('can be read, found, downloaded and replayed directly after the response to its sender', async () => {
    const owner = await ownerOf(api)
    const { sourceId } = owner
    const connectionId = (await api.connection(owner.person, sourceId)).body.id
    const sent = { method: 'POST', body: '{"type":"invoice.paid"}' }
    const received = await api.app.request(`/in/${sourceId}`, sent)
    expect(received.status).toBe(200)
    const { id: eventId } = (await received.json()) as { id: string }
    const { status, body } = await owner.ask('GET', `/events/${eventId}`)
    expect([status, body.id, body.status]).toEqual([200, eventId, 'received'])
    const found = await owner.ask('GET', `/sources/${sourceId}/events?id=${eventId}`)
    expect(found.body.items).toMatchObject([{ id: eventId }])
    expect((await owner.ask('GET', `/events/${eventId}/body`)).text).toBe(sent.body)
    const replayed = await owner.ask('POST', `/events/${eventId}/replay`)
    expect(replayed.status).toBe(202)
    expect(replayed.body.deliveries).toMatchObject([{ eventId, connectionId, state: 'runnable' }])
  })
})

describe.each(serviceStores())('an open circuit breaker over HTTP, on $name', (store) => {
  const api = openApi(store)

  test('is shown by its connection and by each delivery that waits for it', async () => {
    const owner = await ownerOf(api)
    const connectionId = (await api.connection(owner.person, owner.sourceId)).body.id
    const event = await owner.receive()
    const { stores, clock } = api
    const { tasks } = await stores.routing.route(
      await routeTaskOf(stores, event.eventId),
      [{ connectionId }],
      { leaseUntil: clock.now() + 25_000 },
    )
    const connection = required(await stores.connections.getById(connectionId))
    const [since, nextAttemptAt] = [clock.now(), clock.now() + 30_000]
    const reason = { reason: 'circuit', wakeAt: nextAttemptAt } as const
    await stores.parking.park(required(tasks[0]), connection, reason)
    const circuit = { connectionId, workerId: newId('wrk'), since, nextAttemptAt }
    await stores.connectionActivity.openCircuit(circuit)

    const shown = {
      state: 'open',
      since: new Date(since).toISOString(),
      nextAttemptAt: new Date(nextAttemptAt).toISOString(),
    }
    const seen = await owner.ask('GET', `/connections/${connectionId}`)
    expect(seen.body.circuit).toEqual(shown)
    const { items } = (await owner.ask('GET', `/sources/${owner.sourceId}/connections`)).body
    expect(items[0].circuit).toEqual(shown)
    expect((await owner.ask('GET', `/events/${event.eventId}`)).body.deliveries).toMatchObject([
      { reason: 'circuit', circuit: shown, nextAttemptAt: shown.nextAttemptAt },
    ])

    clock.advance({ seconds: 30 })
    const later = await owner.ask('GET', `/connections/${connectionId}`)
    expect(later.body.circuit).toEqual({ ...shown, state: 'half_open' })
    await stores.connectionActivity.closeCircuit(circuit)
    const closed = { state: 'closed', since: null, nextAttemptAt: null }
    expect((await owner.ask('GET', `/connections/${connectionId}`)).body.circuit).toEqual(closed)
    const [delivery] = (await owner.ask('GET', `/events/${event.eventId}`)).body.deliveries
    expect(delivery).toMatchObject({ circuit: null, nextAttemptAt: null })
  })

  test('does not hide deliveries that ended since the counts were stored', async () => {
    const owner = await ownerOf(api)
    const connectionId = (await api.connection(owner.person, owner.sourceId)).body.id
    await deliver(api, await owner.receive(), [connectionId])
    await deliver(api, await owner.receive(), [connectionId], 'failed')
    const { body } = await owner.ask('GET', `/connections/${connectionId}`)
    expect([body.deliveryCount, body.failureCount]).toEqual([1, 1])
  })
})
