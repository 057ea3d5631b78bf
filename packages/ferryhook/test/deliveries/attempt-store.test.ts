import { ItemMismatch, TransactionFailed } from '@strongroom/kit/db-errors'
import { newId } from '@strongroom/kit/ids'
import { transact } from '@strongroom/kit/transact'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AttemptResult } from '../../src/deliveries/attempt-store.ts'
import type { Attempt } from '../../src/deliveries/item.ts'
import type { Event } from '../../src/events/item.ts'
import {
  attemptResult,
  deliveryTasksOf,
  eventInput,
  leasedEvent,
  openWorkbench,
  required,
  type Workbench,
} from '../support/test-stores.ts'

describe.each(serviceStores())('attempts on $name', (store) => {
  let bench: Workbench
  let stores: Workbench['stores']

  beforeAll(async () => {
    bench = await openWorkbench({ store })
    stores = bench.stores
  })
  afterAll(() => bench.close())

  const result = (given: Record<string, unknown> = {}) => attemptResult(bench.clock, given)

  async function create(
    { eventId, expiresAt }: Pick<Event, 'eventId' | 'expiresAt'>,
    attemptNum: number,
    input: AttemptResult & { connectionId: string },
  ): Promise<Attempt> {
    const attempt = { run: 1, expiresAt, ...input }
    await transact(bench.db, [stores.attempts.create(eventId, attemptNum, attempt)])
    const all = await stores.attempts.listByEvent(eventId)
    return required(all.find(({ connectionId }) => connectionId === input.connectionId))
  }

  test('an attempt is stored attribute for attribute as the specification shows, with the expiry of its event', async () => {
    const event = await stores.events.create(eventInput())
    const { eventId, expiresAt } = event
    const connectionId = newId('conn')
    const responseHeaders = '{"content-type":"text/plain"}'
    const given = result({ error: 'reset', responseHeaders })
    await create(event, 2, { ...given, connectionId })
    const key = { PK: `EVT#${eventId}`, SK: `ATT#2#${connectionId}#1` }
    expect(await bench.stored('ferryhook-events', key)).toEqual({
      ...key,
      eventId,
      connectionId,
      attemptNumber: 2,
      run: 1,
      destinationUrl: 'https://shop.example/hooks',
      statusCode: 200,
      responseHeaders,
      responseBody: 'ok',
      latencyMs: 12,
      error: 'reset',
      attemptedAt: bench.clock.now(),
      expiresAt,
    })
  })

  test('an attempt without a response has the status code 0 and no response', async () => {
    const event = await stores.events.create(eventInput())
    const timeout = result({ statusCode: 0, responseBody: undefined, error: 'timeout' })
    const attempt = await create(event, 1, { ...timeout, connectionId: newId('conn') })
    const raw = required(await bench.stored('ferryhook-events', { PK: attempt.PK, SK: attempt.SK }))
    expect(raw).toMatchObject({ statusCode: 0, error: 'timeout' })
    expect(raw).not.toHaveProperty('responseBody')
  })

  test('the first 1,000 characters of a response are stored, and never half a character', async () => {
    const event = await stores.events.create(eventInput())
    const kept = async (responseBody: string) => {
      const given = { ...result({ responseBody }), connectionId: newId('conn') }
      return (await create(event, 1, given)).responseBody
    }
    expect(await kept('x'.repeat(5_000))).toBe('x'.repeat(1_000))
    expect(await kept(`${'x'.repeat(999)}😀`)).toBe('x'.repeat(999))
  })

  test('the first 1,000 characters of a long error are stored', async () => {
    const { event, tasks } = await leasedEvent(bench)
    const error = `altnames: ${'DNS:shop.example, '.repeat(100)}`
    await stores.settlement.settle(required(tasks[0]), {
      state: 'failed',
      attempt: { ...result(), statusCode: 0, error },
      reason: 'tls',
    })
    const [attempt] = await stores.attempts.listByEvent(event.eventId)
    expect(attempt?.error).toBe(error.slice(0, 1_000))
  })

  test('attempts of two connections and of a replay do not overwrite each other', async () => {
    const { event, tasks } = await leasedEvent(bench, { connections: 2 })
    const { eventId } = event
    for (const task of tasks) {
      await stores.settlement.settle(task, {
        state: 'failed',
        attempt: result({ statusCode: 500 }),
        reason: 'gone',
      })
    }
    for (const { connectionId } of tasks) await stores.deliveries.replay(eventId, connectionId)
    for (const task of await deliveryTasksOf(stores, eventId)) {
      const leased = required(await stores.queue.claim(task, bench.clock.now() + 25_000))
      await stores.settlement.settle(leased, { state: 'delivered', attempt: result() })
    }
    const listed = await stores.attempts.listByEvent(eventId)
    expect(
      listed
        .map(({ connectionId, run, statusCode }) => `${connectionId} ${run} ${statusCode}`)
        .toSorted(),
    ).toEqual(
      tasks
        .flatMap(({ connectionId }) => [`${connectionId} 1 500`, `${connectionId} 2 200`])
        .toSorted(),
    )
  })

  test('a second attempt with the same number, connection and run is rejected', async () => {
    const event = await stores.events.create(eventInput())
    const input = { ...result(), connectionId: newId('conn') }
    await create(event, 1, input)
    await expect(create(event, 1, input)).rejects.toThrow(TransactionFailed)
  })

  test('the attempts of an event are listed by number, without its other items', async () => {
    const event = await stores.events.create(eventInput())
    const connectionId = newId('conn')
    for (const n of [3, 1, 8, 2]) await create(event, n, { ...result(), connectionId })
    const listed = await stores.attempts.listByEvent(event.eventId)
    expect(listed.map(({ attemptNumber }) => attemptNumber)).toEqual([1, 2, 3, 8])
    expect(await stores.attempts.listByEvent(newId('evt'))).toEqual([])
  })

  test('an invalid attempt is rejected', async () => {
    const event = await stores.events.create(eventInput())
    const input = { ...result(), connectionId: newId('conn') }
    for (const n of [0, 9, 1.5]) {
      await expect(create(event, n, input)).rejects.toThrow(ItemMismatch)
    }
    await expect(create(event, 1, { ...input, statusCode: -1 })).rejects.toThrow(ItemMismatch)
    expect(await stores.attempts.listByEvent(event.eventId)).toEqual([])
  })

  test('expired attempts and deliveries are not returned even if they are still stored', async () => {
    const { event, tasks } = await leasedEvent(bench, { plan: 'free' })
    const task = required(tasks[0])
    await stores.settlement.settle(task, { state: 'delivered', attempt: result() })
    expect(await stores.attempts.listByEvent(event.eventId)).toHaveLength(1)
    bench.clock.advance({ days: 1 })
    expect(await stores.attempts.listByEvent(event.eventId)).toEqual([])
    expect(await stores.deliveries.listByEvent(event.eventId)).toEqual([])
    expect(await stores.deliveries.get(event.eventId, task.connectionId)).toBeNull()
  })
})
