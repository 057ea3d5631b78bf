import { setImmediate } from 'node:timers/promises'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { deliver } from '../support/people.ts'
import { times } from '../support/test-stores.ts'
import { type LiveBench, openLiveBench } from '../support/test-streams.ts'

describe.each(serviceStores())('the stream of all sources, on $name', (store) => {
  let bench: LiveBench

  beforeAll(async () => {
    bench = await openLiveBench(store)
  })
  afterAll(() => bench.close())

  test('sends the events of each source in the order of their receipt, without headers and bodies', async () => {
    const owner = await bench.newSource()
    const other = await owner.addSource('Other')
    const stranger = await bench.newSource()
    const stream = await owner.openAccount()
    const made: string[] = []
    for (const sourceId of [owner.sourceId, other, other, owner.sourceId]) {
      bench.clock.advance({ ms: 1 })
      made.push((await owner.receive({ sourceId, eventType: 'sale' })).eventId)
      await stranger.receive()
    }
    const { event, data } = await stream.next()
    expect(event).toBe('event')
    expect(data).toMatchObject({ id: made[0], sourceName: 'Shop', type: 'sale', lastAttempt: null })
    expect(data).not.toHaveProperty('body')
    expect(data).not.toHaveProperty('headers')
    expect((await stream.next()).data).toMatchObject({ id: made[1], sourceName: 'Other' })
    expect(await stream.ids(2)).toEqual(made.slice(2))
    await stream.leave()
  })

  test('sends a change of an event that it has sent, and nothing for one that is unchanged', async () => {
    const owner = await bench.newSource()
    const stream = await owner.openAccount()
    const first = await owner.receive()
    await stream.ids(1)
    await deliver(bench, first, ['conn_AAAAAAAAAAAAAAAA'])
    expect(await stream.next()).toMatchObject({
      event: 'change',
      id: expect.any(String),
      data: {
        id: first.eventId,
        status: 'delivered',
        lastAttempt: { statusCode: 200, outcome: 'delivered' },
      },
    })
    bench.clock.advance({ seconds: 20 })
    const second = await owner.receive()
    expect(await stream.next()).toMatchObject({ event: 'event', data: { id: second.eventId } })
    await stream.leave()
  })

  test('includes a source that is created while it is open', async () => {
    const owner = await bench.newSource()
    const stream = await owner.openAccount()
    const sourceId = await owner.addSource('New')
    const { eventId } = await owner.receive({ sourceId })
    expect((await stream.next()).data).toMatchObject({ id: eventId, sourceName: 'New' })
    await stream.leave()
  })

  test('continues after the last id that a client received, across sources and pages', async () => {
    const owner = await bench.newSource()
    const other = await owner.addSource('Other')
    const stream = await owner.openAccount()
    const first = await owner.receive()
    const { id } = await stream.next()
    await stream.leave()
    const made = [first.eventId]
    for (const index of times(130, (each) => each)) {
      if (index % 3 === 0) bench.clock.advance({ ms: 1 })
      const sourceId = index % 2 === 0 ? owner.sourceId : other
      made.push((await owner.receive({ sourceId })).eventId)
    }
    const again = await owner.openAccount(id)
    expect((await again.ids(130)).toSorted()).toEqual(made.slice(1).toSorted())
    await again.leave()
  })

  test('accepts only a last id of the same account, and counts as one of its streams', async () => {
    const owner = await bench.newSource()
    const stranger = await bench.newSource()
    const { ready, leave } = await stranger.openAccount()
    await leave()
    const source = await owner.open()
    await source.leave()
    for (const lastId of [ready.id, source.ready.id, 'nonsense']) {
      await expect(owner.openAccount(lastId)).rejects.toThrow('request.invalid_cursor')
    }
    const open = await Promise.all(times(20, () => owner.openAccount()))
    await expect(owner.openAccount()).rejects.toThrow('ferryhook.too_many_streams')
    expect((await owner.request()).status).toBe(429)
    await Promise.all(open.map((stream) => stream.leave()))
  })

  test('leaves nothing behind when the client disconnects while its sources are read', async () => {
    const owner = await bench.newSource()
    const before = bench.subscriptionCount()
    const stream = await owner.openAccount()
    expect(bench.subscriptionCount()).toBe(before + 1)
    const list = bench.stores.sources.listByUser
    const read = vi.spyOn(bench.stores.sources, 'listByUser')
    read.mockImplementationOnce(async (...given) => {
      await stream.leave()
      return list(...given)
    })
    expect(await stream.next()).toMatchObject({ event: 'closed' })
    await read.mock.results[0]?.value
    await setImmediate()
    read.mockRestore()
    expect(bench.subscriptionCount()).toBe(before)
  })

  test('ends when its key is revoked, and when the server stops', async () => {
    const owner = await bench.newSource()
    const stream = await owner.openAccount()
    await bench.stores.apiKeys.delete(owner.keyId, owner.userId)
    expect(await stream.next()).toMatchObject({ event: 'end', data: { reason: 'unauthorized' } })
    const another = await bench.newSource()
    const stopped = await another.openAccount()
    const end = stopped.next()
    bench.live.stop()
    expect(await end).toMatchObject({ event: 'end', data: { reason: 'stopping' } })
  })
})
