/** An alert as it is told: one, or several of the same kind together. */
import { newId } from '@strongroom/kit/ids'
import type { Alert, AlertKind } from './alert.ts'

export interface Telling {
  id: string
  kind: AlertKind | 'test'
  userId: string
  /** Milliseconds since the epoch, of the last one. */
  at: number
  /** How many there were since the last time. */
  count: number
  summary: string
  /** What it is about; of several, the last one. */
  data: Readonly<Record<string, string | number>>
}

export function tellingOf(alert: Alert, { at, count }: { at: number; count: number }): Telling {
  const { kind, userId, ...data } = alert
  const known = Object.entries(data).filter(([, value]) => value !== undefined)
  return {
    id: newId('alr'),
    kind,
    userId,
    at,
    count,
    summary: summaryOf(alert, count),
    data: Object.fromEntries(known) as Telling['data'],
  }
}

export function testTelling(userId: string, at: number): Telling {
  const summary = 'this is a test of your alerts'
  return { id: newId('alr'), kind: 'test', userId, at, count: 1, summary, data: {} }
}

/** What is told together: the same kind of news about the same thing. */
export function groupOf(alert: Alert): string {
  const about = 'connectionId' in alert ? alert.connectionId : `${alert.sourceId} ${alert.limit}`
  return `${alert.userId} ${alert.kind} ${about}`
}

function summaryOf(alert: Alert, count: number): string {
  switch (alert.kind) {
    case 'delivery.failed':
      return count === 1
        ? 'a delivery has failed for good'
        : `${count} deliveries have failed for good`
    case 'connection.warning':
      return 'a connection keeps failing and will be paused'
    case 'connection.paused':
      return 'a connection was paused, and its events are held'
    case 'limit.reached':
      return 'a limit of your plan is reached'
  }
}

/** The body of the webhook, in the shape that Standard Webhooks recommends. */
export function bodyOf({ kind, at, count, data, summary }: Telling): string {
  return JSON.stringify({
    type: `ferryhook.${kind}`,
    timestamp: new Date(at).toISOString(),
    data: { ...data, count, summary },
  })
}
