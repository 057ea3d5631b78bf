import { randomBytes } from 'node:crypto'
import { ItemMismatch } from '@strongroom/kit/db-errors'
import { newId } from '@strongroom/kit/ids'
import { transact } from '@strongroom/kit/transact'
import { testStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Plan, retentionSeconds } from '../../src/plans.ts'
import {
  allDue,
  eventInput,
  storesOn,
  openWorkbench,
  outcomes,
  required,
  times,
  type Workbench,
} from '../support/test-stores.ts'

describe.each(testStores())('events on $name', (store) => {
  let bench: Workbench
  let events: Workbench['stores']['events']

  beforeAll(async () => {
    bench = await openWorkbench({ store })
    events = bench.stores.events
  })
  afterAll(() => bench.close())

  const stored = (PK: string, SK: string) => bench.stored('ferryhook-events', { PK, SK })

  test('the id of a later event sorts after that of an earlier one', async () => {
    const receivedAt = bench.clock.now()
    const ids: string[] = []
    for (const later of [0, 1, 64, 5_000]) {
      const { eventId } = await events.create(eventInput({ receivedAt: receivedAt + later }))
      ids.push(eventId)
    }
    const byBytes = ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    expect(ids).toEqual(byBytes)
  })

  test('an event is stored attribute for attribute as the specification shows', async () => {
    const { sourceId, userId } = eventInput()
    const receivedAt = bench.clock.now()
    const { eventId } = await events.create(eventInput({ sourceId, userId, query: 'a=1' }))
    expect(eventId).toMatch(/^evt_[\w-]{16}$/)
    expect(await stored(`SRC#${sourceId}`, `EVT#${receivedAt}#${eventId}`)).toEqual({
      PK: `SRC#${sourceId}`,
      SK: `EVT#${receivedAt}#${eventId}`,
      GSI1PK: `EVTID#${eventId}`,
      GSI1SK: 'EVENT',
      eventId,
      sourceId,
      userId,
      status: 'received',
      headers: '{"content-type":"application/json"}',
      bodyBytes: 23,
      sourceIp: '203.0.113.9',
      contentType: 'application/json',
      method: 'POST',
      query: 'a=1',
      receivedAt,
      expiresAt: Math.floor(receivedAt / 1000) + 2_592_000,
      counts: { runnable: 0, retrying: 0, held: 0, failed: 0, delivered: 0, filtered: 0 },
      rev: 0,
    })
  })

  test('optional attributes of an event that are not given are not stored', async () => {
    const event = await events.create(eventInput({ contentType: undefined }))
    const raw = await stored(event.PK, event.SK)
    for (const name of ['contentType', 'query', 'reason', 'processedAt', 'deliveredAt']) {
      expect(raw).not.toHaveProperty(name)
    }
  })

  test.each([
    ['free', 86_400],
    ['starter', 604_800],
    ['pro', 2_592_000],
    ['team', 7_776_000],
  ] as [Plan, number][])(
    'an event of the plan %s expires %i seconds after its receipt',
    async (plan, ttl) => {
      bench.clock.advance({ ms: 1_234 })
      const event = await events.create(eventInput({ plan, body: randomBytes(5_000) }))
      const expiresAt = Math.floor(event.receivedAt / 1000) + ttl
      expect(retentionSeconds[plan]).toBe(ttl)
      expect(await stored(event.PK, event.SK)).toMatchObject({ expiresAt })
      expect(await stored(`EVT#${event.eventId}`, 'BODY')).toMatchObject({ expiresAt })
    },
  )

  test('an event is stored with its body, which has the values of its key, and with its route task', async () => {
    const body = Buffer.from('{"type":"invoice.paid"}')
    const { eventId, sourceId, userId, receivedAt, expiresAt } = await events.create(
      eventInput({ body }),
    )
    expect(await stored(`EVT#${eventId}`, 'BODY')).toEqual({
      PK: `EVT#${eventId}`,
      SK: 'BODY',
      eventId,
      sourceId,
      receivedAt,
      body: new Uint8Array(body),
      encoding: 'identity',
      expiresAt,
    })
    const shard = await bench.stores.shards.shardFor(sourceId)
    expect(await stored(`DUE#${shard}`, `${receivedAt}#${eventId}#ROUTE`)).toEqual({
      PK: `DUE#${shard}`,
      SK: `${receivedAt}#${eventId}#ROUTE`,
      kind: 'route',
      dueAt: receivedAt,
      eventId,
      sourceId,
      userId,
      receivedAt,
    })
  })

  test('an event is found by its id through the index, or its body if the index is stale', async () => {
    const event = await events.create(eventInput())
    expect(await events.getById(event.eventId)).toEqual(event)
    expect(await events.getById(newId('evt'))).toBeNull()
    const stale = storesOn(bench.db, bench.clock, { seed: 1, staleIndex: 1 }).events
    expect(await stale.getById(event.eventId)).toEqual(event)
    expect(await stale.getById(newId('evt'))).toBeNull()
  })

  test.each([
    ['zero bytes', Buffer.alloc(0), 'identity'],
    ['4,096 bytes of text', Buffer.alloc(4_096, 'a'), 'identity'],
    ['4,097 bytes of text', Buffer.alloc(4_097, 'a'), 'gzip'],
    ['text with a byte order mark', Buffer.from('\uFEFF{"a":1}'), 'identity'],
    ['bytes that are not text', Buffer.from([0xff, 0xfe, 0x00, 0x80]), 'identity'],
    ['262,144 bytes of noise', randomBytes(262_144), 'identity'],
    ['262,144 bytes of text', Buffer.alloc(262_144, 'json '), 'gzip'],
  ])('a body of %s is returned byte for byte', async (_what, body, encoding) => {
    const event = await events.create(eventInput({ body }))
    expect(event.bodyBytes).toBe(body.byteLength)
    expect(event).not.toHaveProperty('body')
    expect(await stored(`EVT#${event.eventId}`, 'BODY')).toMatchObject({ encoding })
    const read = required(await events.getById(event.eventId))
    expect(body.equals(required(await events.getBody(read)))).toBe(true)
  })

  test('a long body is stored compressed, as bytes, in its own item', async () => {
    const event = await events.create(eventInput({ body: Buffer.alloc(100_000, 'webhook ') }))
    const raw = required(await stored(`EVT#${event.eventId}`, 'BODY'))
    expect(raw).toMatchObject({ encoding: 'gzip', eventId: event.eventId })
    expect(raw.body).toBeInstanceOf(Uint8Array)
    expect((raw.body as Uint8Array).byteLength).toBeLessThan(2_000)
  })

  test('a body of more than 256 KB is rejected and nothing is stored', async () => {
    const input = eventInput({ body: Buffer.alloc(262_145) })
    expect(await outcomes([events.create(input)])).toEqual(['body_too_large'])
    expect(await events.listBySource(input.sourceId)).toEqual({ items: [], cursor: null })
  })

  test('an invalid event is rejected before it reaches the store', async () => {
    const wrong = [{ method: 'post' }, { sourceIp: '' }, { userId: 'me' }, { reason: '' }]
    for (const given of wrong) {
      const input = eventInput(given)
      const error = await events.create(input).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ItemMismatch)
      expect(error).toMatchObject({ table: 'ferryhook-events', attributes: Object.keys(given) })
      expect((await events.listBySource(input.sourceId)).items).toEqual([])
    }
  })

  test('a damaged event in the store is a typed error that names table and key, not its content', async () => {
    const event = await events.create(eventInput())
    const raw = required(await stored(event.PK, event.SK))
    const Item = { ...raw, status: 'eaten', body: 'private' }
    await bench.db.putItem({ TableName: 'ferryhook-events', Item })
    const error = await events.getById(event.eventId).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ItemMismatch)
    expect(error).toMatchObject({ key: { PK: event.PK, SK: event.SK }, attributes: ['status'] })
    expect(String(error)).not.toContain('private')
  })

  test('one of twenty concurrent duplicates is stored, and the others get its id', async () => {
    const input = eventInput({ dedupKey: 'evt_from_stripe' })
    const results = await Promise.allSettled(times(20, () => events.create(input)))
    const created = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    expect(created).toHaveLength(1)
    const rejected = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    const { eventId } = required(created[0])
    expect(rejected).toHaveLength(19)
    for (const duplicate of rejected)
      expect(duplicate).toMatchObject({ reason: 'duplicate', eventId })
    expect((await events.listBySource(input.sourceId)).items).toEqual(created)
    await events.create({ ...input, ...eventInput() })
  })

  test('an event that failed verification is stored but not routed, and does not count as a first delivery', async () => {
    const input = eventInput({ dedupKey: 'same', status: 'signature_failed', reason: 'no_match' })
    const failed = await events.create(input)
    expect(failed).toMatchObject({ status: 'signature_failed', reason: 'no_match' })
    const due = await allDue(bench.stores)
    expect(due.filter((task) => 'eventId' in task && task.eventId === failed.eventId)).toEqual([])
    const genuine = await events.create({ ...input, status: 'received', reason: undefined })
    expect(genuine.status).toBe('received')
  })

  test('a status is set once by concurrent updates that read the same event', async () => {
    const event = await events.create(eventInput())
    const { parts, after } = events.updateStatus(event, { status: 'unrouted' })
    const writes = await Promise.allSettled(times(5, () => transact(bench.db, parts)))
    expect(writes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(after).toMatchObject({ status: 'unrouted', rev: 1 })
    expect(await events.getById(event.eventId)).toEqual(after)
  })

  test('every read treats an expired event as missing even if it is still stored', async () => {
    const input = eventInput({ plan: 'free', body: randomBytes(5_000), dedupKey: 'once' })
    const event = await events.create(input)
    bench.clock.advance({ seconds: 86_399 })
    expect(await events.getById(event.eventId)).not.toBeNull()
    bench.clock.advance({ seconds: 1 })
    expect(await stored(event.PK, event.SK)).toBeDefined()
    expect(await events.getById(event.eventId)).toBeNull()
    expect(await events.getBody(event)).toBeNull()
    expect((await events.listBySource(event.sourceId)).items).toEqual([])
    expect((await events.create(input)).eventId).not.toBe(event.eventId)
  })
})
