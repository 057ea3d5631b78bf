import { expect, test } from 'vitest'
import { type Alert, testAlertMessage, toAlertMessage } from '../../src/alerts/alert.ts'

const about = {
  userId: 'usr_0000000000000001',
  sourceId: 'src_0000000000000001',
  connectionId: 'conn_000000000000001',
  connectionName: 'Billing',
}
const failed = { ...about, kind: 'delivery.failed' as const, eventId: 'evt_0000000000000001' }

test.each<[Alert, number, string]>([
  [
    { ...about, kind: 'connection.paused', reason: 'gone' },
    1,
    "Connection 'Billing' was paused (410 Gone). Its events are held.",
  ],
  [
    { ...about, kind: 'connection.paused', reason: 'failing' },
    1,
    "Connection 'Billing' was paused (too many failed attempts). Its events are held.",
  ],
  [
    {
      ...about,
      kind: 'connection.warning',
      failingSince: '2026-01-31T12:00:00.000Z',
      failedAttempts: 50,
    },
    1,
    "Connection 'Billing' has been failing since 2026-01-31T12:00:00.000Z. It will be paused if it does not recover.",
  ],
  [
    { ...failed, reason: 'http_400' },
    1,
    "A delivery to connection 'Billing' failed permanently (HTTP 400).",
  ],
  [
    { ...failed, reason: 'blocked_address' },
    3,
    "3 deliveries to connection 'Billing' failed permanently (last: blocked address).",
  ],
  [
    { kind: 'limit.reached', userId: about.userId, limit: 'free minute' },
    1,
    'The limit of events per minute of the free plan was reached.',
  ],
])('an alert has a summary in a full sentence: %j', (alert, count, summary) => {
  const message = toAlertMessage(alert, { at: 0, count })
  expect(message.summary).toBe(summary)
})

test('a test alert says that it is one', () => {
  expect(testAlertMessage(about.userId, 0).summary).toBe('This is a test alert.')
})
