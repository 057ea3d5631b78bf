import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { storesOn, times } from '../support/test-stores.ts'
import { type LiveBench, type LiveSource, openLiveBench } from '../support/test-streams.ts'

describe.each(serviceStores())('a stream of events, on $name', (store) => {
  let bench: LiveBench

  beforeAll(async () => {
    bench = await openLiveBench(store)
  })
  afterAll(() => bench.close())

  const idOf = async (made: ReturnType<LiveSource['receive']>) => (await made).eventId

  test('sends new events, with everything needed to forward them', async () => {
    const source = await bench.newSource()
    await source.receive()
    const stream = await source.open()
    expect(stream.ready).toMatchObject({ event: 'ready', id: expect.any(String) })
    const bytes = Buffer.from([0xff, 0x00, 0x0a])
    const text = '{"a":\r\n"ä"}\n\n'
    const first = await source.receive({
      method: 'PUT',
      query: 'x=1',
      headers: '{"x-a":["1","2"]}',
      body: Buffer.from(text),
    })
    bench.clock.advance({ ms: 1 })
    const second = await source.receive({ body: bytes })
    expect(await stream.next()).toMatchObject({
      event: 'event',
      data: {
        id: first.eventId,
        status: 'received',
        method: 'PUT',
        query: 'x=1',
        headers: { 'x-a': ['1', '2'] },
        body: text,
        encoding: 'utf-8',
      },
    })
    expect(await stream.next()).toMatchObject({
      data: { id: second.eventId, body: bytes.toString('base64'), encoding: 'base64' },
    })
    await stream.leave()
  })

  test('sends only events of a type on request, and continues behind the others', async () => {
    const source = await bench.newSource()
    const stream = await source.open(undefined, '?type=invoice.*')
    await source.receive({ eventType: 'user.created' })
    bench.clock.advance({ ms: 1 })
    const paid = await idOf(source.receive({ eventType: 'invoice.paid' }))
    bench.clock.advance({ ms: 1 })
    await source.receive()
    bench.clock.advance({ ms: 1 })
    const failed = await idOf(source.receive({ eventType: 'invoice.failed' }))
    expect(await stream.next()).toMatchObject({ data: { id: paid, type: 'invoice.paid' } })
    expect(await stream.ids(1)).toEqual([failed])
    await stream.leave()
  })

  test('has the headers of a server-sent event stream', async () => {
    const source = await bench.newSource()
    const answer = await source.request()
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    await answer.body?.cancel()
  })

  test('sends events of this process immediately, and those of others within a second', async () => {
    const source = await bench.newSource()
    const stream = await source.open()
    const coming = stream.atOnce()
    // It has polled, has paused, and waits for the next second.
    await bench.timers.step()
    await bench.timers.isSet()
    const { eventId } = await source.receive()
    const storedAt = bench.clock.now()
    bench.live.notify(source.sourceId)
    expect(await coming).toMatchObject({ data: { id: eventId } })
    expect(bench.clock.now()).toBe(storedAt)
    const elsewhere = storesOn(bench.db, bench.clock)
    const { sourceId, userId } = source
    const other = await elsewhere.events.create({
      sourceId,
      userId,
      plan: 'team',
      headers: '{}',
      body: new Uint8Array(1),
      sourceIp: '203.0.113.9',
      method: 'POST',
    })
    const before = bench.clock.now()
    expect(await stream.ids(1)).toEqual([other.eventId])
    expect(bench.clock.now() - before).toBeLessThanOrEqual(1_000)
    await stream.leave()
  })

  test('resumes where it broke off, without losing or repeating events', async () => {
    const source = await bench.newSource()
    const first = await source.open()
    const made = [await idOf(source.receive()), await idOf(source.receive())]
    bench.clock.advance({ ms: 5 })
    made.push(await idOf(source.receive()))
    expect((await first.ids(2)).toSorted()).toEqual(made.slice(0, 2).toSorted())
    const { id: lastId } = await first.next()
    await first.leave()
    bench.clock.advance({ minutes: 10 })
    const missed = [await idOf(source.receive()), await idOf(source.receive())]
    const second = await source.open(lastId)
    expect((await second.ids(2)).toSorted()).toEqual(missed.toSorted())
    const last = await idOf(source.receive())
    expect(await second.ids(1)).toEqual([last])
    await second.leave()
    // Also from the start of a stream that has sent nothing yet.
    const third = await source.open()
    await third.leave()
    const unseen = await idOf(source.receive())
    const fourth = await source.open(third.ready.id)
    expect(await fourth.ids(1)).toEqual([unseen])
    await fourth.leave()
  })

  test('sends an event that is stored after later ones, once', async () => {
    const source = await bench.newSource()
    const stream = await source.open()
    bench.clock.advance({ seconds: 40 })
    const now = bench.clock.now()
    const early = await idOf(source.receive({ receivedAt: now }))
    expect(await stream.ids(1)).toEqual([early])
    const late = [
      await idOf(source.receive({ receivedAt: now - 3 })),
      await idOf(source.receive({ receivedAt: now - 20_000 })),
    ]
    expect((await stream.ids(2)).toSorted()).toEqual(late.toSorted())
    const after = await idOf(source.receive())
    const { id: lastId, data } = await stream.next()
    expect(data).toMatchObject({ id: after })
    await stream.leave()

    // Stored while no stream was open: repeats the last moments rather than lose one event.
    const missed = await idOf(source.receive({ receivedAt: now - 10_000 }))
    const again = await source.open(lastId)
    const all = [early, ...late, after, missed]
    expect((await again.ids(all.length)).toSorted()).toEqual(all.toSorted())
    await again.leave()
  })

  test('sends events that many processes store concurrently once each', async () => {
    const many = store.name === 'the embedded engine' ? 1_000 : 100
    const source = await bench.newSource()
    const stream = await source.open()
    const made = times(many, (n) => {
      if (n % 5 === 0) bench.clock.advance({ ms: 1 })
      bench.live.notify(source.sourceId)
      return idOf(source.receive({ body: new Uint8Array(1) }))
    })
    const came = await stream.ids(many)
    expect(came.toSorted()).toEqual((await Promise.all(made)).toSorted())
    const { id: lastId } = stream.ready
    await stream.leave()
    const again = await source.open(lastId)
    expect((await again.ids(many)).toSorted()).toEqual(came.toSorted())
    await again.leave()
  })

  test('sends a comment every fifteen seconds, so that both ends notice a lost connection', async () => {
    const source = await bench.newSource()
    const stream = await source.open()
    const before = bench.clock.now()
    expect(await stream.any()).toMatchObject({ event: 'comment' })
    expect(bench.clock.now() - before).toBeLessThanOrEqual(16_000)
    expect(await stream.any()).toMatchObject({ event: 'comment' })
    await stream.leave()
  })

  test('ends when its key is revoked, and sends nothing more', async () => {
    const source = await bench.newSource()
    const stream = await source.open()
    await bench.stores.apiKeys.delete(source.keyId, source.userId)
    bench.clock.advance({ seconds: 5 })
    await source.receive()
    expect(await stream.next()).toMatchObject({ event: 'end', data: { reason: 'unauthorized' } })
    expect(await stream.next()).toMatchObject({ event: 'closed' })
  })

  test('ends when its key is revoked, even after the clock was set back', async () => {
    const source = await bench.newSource()
    const stream = await source.open()
    await bench.stores.apiKeys.delete(source.keyId, source.userId)
    const setBack = vi.spyOn(bench.clock, 'now').mockReturnValue(bench.clock.now() - 3_600_000)
    expect(await stream.next()).toMatchObject({ event: 'end' })
    setBack.mockRestore()
  })

  /** Sets the clock back while no timer is pending. */
  function turnBack(by: { minutes: number }): { undo(): void } {
    const { now } = bench.clock
    const spy = vi.spyOn(bench.clock, 'now')
    spy.mockImplementation(() => now() - by.minutes * 60_000)
    return { undo: () => spy.mockRestore() }
  }

  test('sends events received after the clock was set back, and repeats none', async () => {
    const source = await bench.newSource()
    for (const minutes of [6, 4, 3, 1]) {
      await source.receive()
      bench.clock.advance({ minutes })
    }
    const many = store.name === 'the embedded engine' ? 1_100 : 50
    await Promise.all(times(many, () => source.receive()))
    bench.clock.advance({ minutes: 1 })
    const stream = await source.open()
    const before = bench.clock.now()
    const first = await idOf(source.receive())
    expect(await stream.ids(1)).toEqual([first])
    const clock = turnBack({ minutes: 10 })
    const next = [await idOf(source.receive()), await idOf(source.receive())]
    expect((await stream.ids(2)).toSorted()).toEqual(next.toSorted())
    bench.clock.advance({ seconds: 30 })
    const last = await idOf(source.receive())
    expect(await stream.ids(1)).toEqual([last])
    expect(before - bench.clock.now()).toBeGreaterThan(500_000)
    await stream.leave()
    clock.undo()
  })

  test('resumes where it broke off even if the clock was set back in between', async () => {
    const source = await bench.newSource()
    await source.receive()
    bench.clock.advance({ minutes: 5 })
    const stream = await source.open()
    const first = await idOf(source.receive())
    const { id: lastId, data } = await stream.next()
    expect(data).toMatchObject({ id: first })
    await stream.leave()
    const before = bench.clock.now()
    const clock = turnBack({ minutes: 10 })
    const missed = await idOf(source.receive())
    bench.clock.advance({ seconds: 20 })
    const again = await source.open(lastId)
    // Repeats the last events rather than lose one.
    while ((await again.ids(1))[0] !== missed);
    const last = await idOf(source.receive())
    while ((await again.ids(1))[0] !== last);
    expect(before - bench.clock.now()).toBeGreaterThan(500_000)
    await again.leave()
    clock.undo()
  })

  test('ends when its source is deleted', async () => {
    const source = await bench.newSource()
    const stream = await source.open()
    await bench.stores.sources.delete(source.sourceId, source.userId)
    expect(await stream.next()).toMatchObject({ event: 'end', data: { reason: 'source_deleted' } })
  })

  test('reads no further event until the client has received the last one', async () => {
    const source = await bench.newSource()
    const stream = await source.open()
    const made = await Promise.all(times(20, () => source.receive({ body: Buffer.alloc(9_000) })))
    let read = 0
    const { getBody } = bench.stores.events
    bench.stores.events.getBody = (event) => {
      read += 1
      return getBody(event)
    }
    await stream.ids(3)
    expect(read).toBeLessThanOrEqual(4)
    bench.stores.events.getBody = getBody
    expect(await stream.ids(made.length - 3)).toHaveLength(17)
    await stream.leave()
  })

  test('is rejected beyond twenty per user, until one of them ends', async () => {
    const source = await bench.newSource()
    const open = await Promise.all(times(20, () => source.open()))
    const refused = await source.request()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    const other = await bench.newSource()
    await (await other.open()).leave()
    await open[0]?.leave()
    await (await source.open()).leave()
    await Promise.all(open.slice(1).map((stream) => stream.leave()))
  })

  test('does not count a client that left before it started', async () => {
    const source = await bench.newSource()
    const socket = new PassThrough().resume().end()
    await once(socket, 'end')
    const gone = () => source.request({}, { incoming: { socket }, outgoing: new PassThrough() })
    await Promise.all(times(20, gone))
    const stream = await source.open()
    expect(stream.ready.event).toBe('ready')
    await stream.leave()
  })

  test('accepts only its own last event id', async () => {
    const source = await bench.newSource()
    const other = await bench.newSource()
    const { ready, leave } = await other.open()
    await leave()
    for (const lastEventId of ['nonsense', String(ready.id)]) {
      const answer = await source.request({ 'last-event-id': lastEventId })
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ error: { code: 'request.invalid_cursor' } })
    }
    expect((await source.request({ authorization: 'Bearer fh_live_wrong' })).status).toBe(401)
  })

  test('ends when the server stops, with a reason that tells the client to reconnect', async () => {
    const source = await bench.newSource()
    const stream = await source.open()
    const end = stream.next()
    bench.live.stop()
    expect(await end).toMatchObject({ event: 'end', data: { reason: 'stopping' } })
    expect(await stream.next()).toMatchObject({ event: 'closed' })
  })
})
