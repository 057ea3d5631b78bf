import { describe, expect, test } from 'vitest'
import { connectionText, eventCountText, usageText } from '../src/ferryhook/text.ts'
import type { Circuit, Connection } from '../src/ferryhook/views.ts'

const now = Date.parse('2100-01-01T12:00:00Z')

test('a count that stopped at its limit is shown with a plus sign', () => {
  expect(eventCountText({ eventCount: 1_000, eventCountIsLowerBound: true })).toBe('1000+')
  expect(eventCountText({ eventCount: 1_000, eventCountIsLowerBound: false })).toBe('1000')
  expect(usageText({ usageThisMonth: 7_000, usageIsLowerBound: true })).toBe('7000+')
  expect(usageText({ usageThisMonth: 7_000, usageIsLowerBound: false })).toBe('7000')
})

describe('the circuit breaker of a connection', () => {
  const circuitLine = (circuit: Circuit) => {
    const connection: Connection = {
      id: 'conn_AAAAAAAAAAAAAAAA',
      sourceId: 'src_AAAAAAAAAAAAAAAA',
      name: 'To the shop',
      destinationUrl: 'https://shop.example.com/',
      filters: [],
      transform: { type: 'passthrough' },
      headerNames: [],
      retryConfig: null,
      limits: {},
      rev: 0,
      status: 'active',
      statusReason: null,
      failingSince: null,
      circuit,
      deliveryCount: 0,
      failureCount: 0,
      createdAt: '2100-01-01T00:00:00Z',
    }
    const text = connectionText(connection, 'Shop', now)
    return /^circuit +(.+)$/m.exec(text)?.[1]
  }
  const since = '2100-01-01T11:55:00Z'

  test('is shown with its state, since when, and the next attempt', () => {
    expect(circuitLine({ state: 'open', since, nextAttemptAt: '2100-01-01T12:00:30Z' })).toBe(
      'open since 5 minutes ago, next attempt in 30 seconds',
    )
    expect(circuitLine({ state: 'half_open', since, nextAttemptAt: since })).toBe(
      'half-open since 5 minutes ago, next attempt decides',
    )
    expect(circuitLine({ state: 'closed', since: null, nextAttemptAt: null })).toBe('closed')
  })
})
