import { newId } from '@strongroom/kit/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Source } from '../../src/sources/item.ts'
import { eventInput, serviceWorlds, required } from '../support/test-stores.ts'
import { openWorkerBench, type WorkerBench } from '../support/test-worker.ts'

const BODY = '{"n":1}'

describe.each(serviceWorlds())('events that earlier versions stored on $name', (world) => {
  let bench: WorkerBench

  beforeAll(async () => {
    bench = await openWorkerBench(world)
  })
  afterAll(() => bench.close())

  const put = (Item: object) =>
    bench.db.putItem({ TableName: 'ferryhook-events', Item: Item as never })

  /** With the body in the event and a reference, as earlier versions wrote them. */
  async function earlierEvent({ sourceId, userId }: Source) {
    const input = eventInput({ sourceId, userId, plan: 'free', body: Buffer.from(BODY) })
    const event = await bench.stores.events.create(input)
    const { eventId, receivedAt, expiresAt } = event
    const PK = `EVT#${eventId}`
    await bench.db.deleteItem({ TableName: 'ferryhook-events', Key: { PK, SK: 'BODY' } })
    await put({ ...event, body: BODY })
    await put({ PK, SK: 'REF', eventId, sourceId, receivedAt, expiresAt })
    return { ...event, body: BODY }
  }

  test('are delivered, shown and replayed with their body', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/earlier')
    const event = await earlierEvent(source)
    await bench.worker.runOnce()
    expect(await bench.status(event)).toBe('delivered')
    const stored = required(await bench.stores.events.getById(event.eventId))
    const shown = await bench.stores.events.getBody(stored)
    expect(Buffer.from(required(shown)).toString()).toBe(BODY)
    await bench.stores.deliveries.replay(event.eventId, connection.connectionId)
    await bench.worker.runOnce()
    const bodies = bench.sink.received('/earlier').map(({ body }) => String(body))
    expect(bodies).toEqual([BODY, BODY])
  })

  test('are retained for a late retry, and delivered although they have expired', async () => {
    const source = await bench.newSource()
    const [retried, late] = [await earlierEvent(source), await earlierEvent(source)]
    const later = retried.expiresAt + 86_400
    const { parts, after } = bench.stores.events.updateStatus(retried, { expiresAt: later })
    await bench.db.transactWriteItems({ TransactItems: parts })
    expect(await bench.stores.events.getById(retried.eventId)).toEqual(after)
    bench.clock.advance({ seconds: 86_401 })
    expect(await bench.stores.events.getForTask(late)).toMatchObject({ body: BODY })
    expect(await bench.stores.events.getForTask({ ...late, eventId: newId('evt') })).toBeUndefined()
  })
})
