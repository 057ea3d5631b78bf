/** What receivers of alerts and clients of streams depend on. */
import { createCursors } from '@strongroom/kit/cursor'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { type Alert, toWebhookBody, toAlertMessage } from '../src/alerts/alert.ts'
import { openLiveBench } from './support/test-streams.ts'

const about = {
  userId: 'usr_1',
  sourceId: 'src_1',
  connectionId: 'conn_1',
  connectionName: 'Billing',
}
const alerts: Alert[] = [
  { kind: 'delivery.failed', ...about, eventId: 'evt_1', eventType: 'sale', reason: 'exhausted' },
  { kind: 'connection.warning', ...about, failingSince: '2026-01-01', failedAttempts: 3 },
  { kind: 'connection.paused', ...about, reason: 'failing' },
  { kind: 'limit.reached', userId: 'usr_1', sourceId: 'src_1', limit: 'free minute' },
]

describe('the body of an alert', () => {
  test('has these fields for each kind, and no other', () => {
    const bodies = alerts.map((alert) => {
      const body = toWebhookBody(
        toAlertMessage(alert, { at: Date.UTC(2026, 0, 1), count: 2, sourceName: 'Shop' }),
      )
      return JSON.parse(body) as object
    })
    const timestamp = '2026-01-01T00:00:00.000Z'
    const source = { sourceId: 'src_1', sourceName: 'Shop' }
    const place = { ...source, connectionId: 'conn_1', connectionName: 'Billing' }
    const common = { count: 2, summary: expect.any(String) }
    expect(bodies).toEqual([
      {
        type: 'ferryhook.delivery.failed',
        timestamp,
        data: { ...place, eventId: 'evt_1', eventType: 'sale', reason: 'exhausted', ...common },
      },
      {
        type: 'ferryhook.connection.warning',
        timestamp,
        data: { ...place, failingSince: '2026-01-01', failedAttempts: 3, ...common },
      },
      {
        type: 'ferryhook.connection.paused',
        timestamp,
        data: { ...place, reason: 'failing', ...common },
      },
      {
        type: 'ferryhook.limit.reached',
        timestamp,
        data: { ...source, limit: 'free minute', ...common },
      },
    ])
  })
})

describe.each(serviceStores())('the position in a stream, on $name', (store) => {
  test('is sealed for the source with these fields', async () => {
    const bench = await openLiveBench(store)
    const source = await bench.newSource()
    const stream = await source.open()
    const { eventId } = await source.receive()
    const { id } = await stream.next()
    await stream.leave()
    await bench.close()
    // The cursor key of the test stores.
    const cursors = createCursors(new Uint8Array(32).fill(7))
    expect(cursors.open(['ferryhook.stream', source.sourceId], String(id))).toEqual({
      receivedAt: expect.any(Number),
      eventId,
      since: expect.any(Number),
      given: 1,
    })
  })
})
