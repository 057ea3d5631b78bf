import { ConditionFailed, ItemMismatch } from '@strongroom/kit/db-errors'
import { newId } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  attemptResult,
  deliveryTasksOf,
  eventInput,
  leasedEvent,
  openWorkbench,
  outcomes,
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

  const result = (given: object = {}) => attemptResult(bench.clock, given)

  test('an attempt is stored attribute for attribute as the specification shows, with the expiry of its event', async () => {
    const { eventId, expiresAt } = await stores.events.create(eventInput())
    const connectionId = newId('conn')
    await stores.attempts.create(eventId, 2, { ...result({ error: 'reset' }), connectionId })
    const key = { PK: `EVT#${eventId}`, SK: `ATT#2#${connectionId}#1` }
    expect(await bench.stored('ferryhook-events', key)).toEqual({
      ...key,
      eventId,
      connectionId,
      attemptNumber: 2,
      run: 1,
      destinationUrl: 'https://shop.example/hooks',
      statusCode: 200,
      responseBody: 'ok',
      latencyMs: 12,
      error: 'reset',
      attemptedAt: bench.clock.now(),
      expiresAt,
    })
  })

  test('an attempt without a response has the status code 0 and no response', async () => {
    const { eventId } = await stores.events.create(eventInput())
    const timeout = result({ statusCode: 0, responseBody: undefined, error: 'timeout' })
    const attempt = await stores.attempts.create(eventId, 1, {
      ...timeout,
      connectionId: newId('conn'),
    })
    const raw = required(await bench.stored('ferryhook-events', { PK: attempt.PK, SK: attempt.SK }))
    expect(raw).toMatchObject({ statusCode: 0, error: 'timeout' })
    expect(raw).not.toHaveProperty('responseBody')
  })

  test('the first 1,000 characters of a response are stored, and never half a character', async () => {
    const { eventId } = await stores.events.create(eventInput())
    const kept = async (responseBody: string) =>
      (
        await stores.attempts.create(eventId, 1, {
          ...result({ responseBody }),
          connectionId: newId('conn'),
        })
      ).responseBody
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
    const { eventId } = await stores.events.create(eventInput())
    const input = { ...result(), connectionId: newId('conn') }
    await stores.attempts.create(eventId, 1, input)
    await expect(stores.attempts.create(eventId, 1, input)).rejects.toThrow(ConditionFailed)
  })

  test('the attempts of an event are listed by number, without its other items', async () => {
    const { eventId } = await stores.events.create(eventInput())
    const connectionId = newId('conn')
    for (const n of [3, 1, 8, 2])
      await stores.attempts.create(eventId, n, { ...result(), connectionId })
    const listed = await stores.attempts.listByEvent(eventId)
    expect(listed.map(({ attemptNumber }) => attemptNumber)).toEqual([1, 2, 3, 8])
    expect(await stores.attempts.listByEvent(newId('evt'))).toEqual([])
  })

  test('an invalid attempt, or one of a missing event, is rejected', async () => {
    const { eventId } = await stores.events.create(eventInput())
    const input = { ...result(), connectionId: newId('conn') }
    for (const n of [0, 9, 1.5]) {
      await expect(stores.attempts.create(eventId, n, input)).rejects.toThrow(ItemMismatch)
    }
    await expect(stores.attempts.create(eventId, 1, { ...input, statusCode: -1 })).rejects.toThrow(
      ItemMismatch,
    )
    expect(await stores.attempts.listByEvent(eventId)).toEqual([])
    expect(await outcomes([stores.attempts.create(newId('evt'), 1, input)])).toEqual(['not_found'])
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
