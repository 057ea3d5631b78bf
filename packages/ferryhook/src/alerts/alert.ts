/** Alerts that owners can subscribe to, and the messages they receive. */
import { newId } from '@strongroom/kit/ids'
import type { Connection } from '../connections/item.ts'

/** The properties are sent in the webhook. */
type AboutConnection = Pick<Connection, 'userId' | 'sourceId' | 'connectionId'> & {
  connectionName: string
}

export type Alert =
  /** A delivery failed permanently. Further ones are grouped into one message. */
  | (AboutConnection & {
      kind: 'delivery.failed'
      eventId: string
      eventType?: string | undefined
      reason: string
    })
  /** The connection has been failing for a while and will be paused if it does not recover. */
  | (AboutConnection & { kind: 'connection.warning'; failingSince: string; failedAttempts: number })
  /** The server paused the connection; its events are held. */
  | (AboutConnection & { kind: 'connection.paused'; reason: string })
  /** Too many attempts in a row failed; further ones wait. */
  | (AboutConnection & { kind: 'connection.circuit_opened'; nextAttemptAt: string })
  /** The destination responds again. */
  | (AboutConnection & { kind: 'connection.circuit_closed' })
  /** A limit of the plan was reached: `free minute`, `pro month`. */
  | { kind: 'limit.reached'; userId: string; sourceId?: string | undefined; limit: string }

export type AlertKind = Alert['kind']

export interface Alerts {
  /** Returns immediately and never throws, because nothing else may depend on an alert. */
  raise(alert: Alert): void
}

export const noAlerts: Alerts = { raise: () => {} }

/** One alert, or several of the same group. */
export interface AlertMessage {
  id: string
  kind: AlertKind | 'test'
  userId: string
  /** The time of the last alert, in milliseconds since the epoch. */
  at: number
  /** How many alerts were raised since the last message of the group. */
  count: number
  summary: string
  /** Details of the last alert. */
  data: Readonly<Record<string, string | number>>
}

export function toAlertMessage(
  alert: Alert,
  { at, count, sourceName }: { at: number; count: number; sourceName?: string | undefined },
): AlertMessage {
  const { kind, userId, ...details } = alert
  const data = Object.entries({ ...details, sourceName }).filter(([, value]) => value !== undefined)
  return {
    id: newId('alr'),
    kind,
    userId,
    at,
    count,
    summary: summaryOf(alert, count, sourceName),
    data: Object.fromEntries(data) as AlertMessage['data'],
  }
}

export function testAlertMessage(userId: string, at: number): AlertMessage {
  const summary = 'This is a test alert.'
  return { id: newId('alr'), kind: 'test', userId, at, count: 1, summary, data: {} }
}

/** Alerts of the same kind about the same thing are grouped. */
export function groupKey(alert: Alert): string {
  const about = 'connectionId' in alert ? alert.connectionId : `${alert.sourceId} ${alert.limit}`
  return `${alert.userId} ${alert.kind} ${about}`
}

function summaryOf(alert: Alert, count: number, sourceName: string | undefined): string {
  switch (alert.kind) {
    case 'delivery.failed': {
      const { connectionName, reason } = alert
      return count === 1
        ? `A delivery to connection '${connectionName}' failed permanently (${explain(reason)}).`
        : `${count} deliveries to connection '${connectionName}' failed permanently (last: ${explain(reason)}).`
    }
    case 'connection.warning':
      return (
        `Connection '${alert.connectionName}' has been failing since ${alert.failingSince}. ` +
        'It will be paused if it does not recover.'
      )
    case 'connection.paused':
      return `Connection '${alert.connectionName}' was paused (${explain(alert.reason)}). Its events are held.`
    case 'connection.circuit_opened':
      return (
        `The circuit breaker of connection '${alert.connectionName}' is open after repeated failures. ` +
        `Deliveries wait; the next attempt is at ${alert.nextAttemptAt}.`
      )
    case 'connection.circuit_closed':
      return `The circuit breaker of connection '${alert.connectionName}' is closed: its destination responds again.`
    case 'limit.reached': {
      const [plan, period] = alert.limit.split(' ')
      const source = sourceName === undefined ? '' : ` by source '${sourceName}'`
      return `The limit of events per ${period} of the ${plan} plan was reached${source}.`
    }
  }
}

const reasonTexts: Readonly<Record<string, string>> = {
  gone: '410 Gone',
  failing: 'too many failed attempts',
  exhausted: 'all retries failed',
}

/** Reasons without a text are codes like `http_500` and `blocked_address`. */
function explain(reason: string): string {
  return reasonTexts[reason] ?? reason.replace(/^http_/, 'HTTP ').replaceAll('_', ' ')
}

/** The body of the webhook, in the shape that Standard Webhooks recommends. */
export function toWebhookBody({ kind, at, count, data, summary }: AlertMessage): string {
  return JSON.stringify({
    type: `ferryhook.${kind}`,
    timestamp: new Date(at).toISOString(),
    data: { ...data, count, summary },
  })
}
