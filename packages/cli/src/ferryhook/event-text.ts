/** Events with their deliveries and attempts in words, for people. */
import { columns, counted, printable, relative } from '../for-people.ts'
import type { Attempt, Delivery, Event, EventDetail } from './views.ts'

export function eventLine(event: Event, source: string, now: number): string[] {
  const { id, receivedAt, contentType, bodyBytes } = event
  return [
    id,
    relative(receivedAt, now),
    withReason(event.status, event.reason),
    source,
    deliveriesText(event),
    counted(bodyBytes, 'byte'),
    printable(contentType ?? ''),
  ]
}

export function eventText(event: EventDetail, now: number): string {
  const { deliveries, attempts, query } = event
  const facts = [
    ['event', event.id],
    ['source', event.sourceId],
    ['status', withReason(event.status, event.reason)],
    ['received', `${relative(event.receivedAt, now)}, ${event.receivedAt}`],
    ['from', printable(event.sourceIp)],
    ['request', `${event.method}${query === null ? '' : ` ?${printable(query)}`}`],
    ['body', `${counted(event.bodyBytes, 'byte')} ${printable(event.contentType ?? '')}`.trim()],
    ['expires', relative(event.expiresAt, now)],
  ]
  return [
    columns(facts),
    deliveries.length === 0 ? '' : `\n${columns([TO, ...deliveries.map(deliveryLine(now))])}`,
    attempts.length === 0 ? '' : `\n${columns([TRIED, ...attempts.map(attemptLine(now))])}`,
  ].join('')
}

const TO = ['CONNECTION', 'STATE', 'RUN', 'ATTEMPTS', 'NEXT ATTEMPT']

const deliveryLine =
  (now: number) =>
  ({ connectionId, state, reason, run, attemptsMade, nextAttemptAt }: Delivery): string[] => [
    connectionId,
    withReason(state, reason),
    String(run),
    String(attemptsMade),
    nextAttemptAt === null ? '' : relative(nextAttemptAt, now),
  ]

const TRIED = ['CONNECTION', 'RUN', 'ATTEMPT', 'WHEN', 'ANSWER', 'TOOK', 'ERROR']

const attemptLine =
  (now: number) =>
  ({ connectionId, run, number, attemptedAt, statusCode, latencyMs, error }: Attempt): string[] => [
    connectionId,
    String(run),
    String(number),
    relative(attemptedAt, now),
    statusCode === 0 ? 'none' : String(statusCode),
    `${latencyMs} ms`,
    printable(error ?? ''),
  ]

function deliveriesText({ deliveries }: Event): string {
  const some = Object.entries(deliveries).filter(([, number]) => number > 0)
  return some.map(([state, number]) => `${number} ${state}`).join(', ') || 'none'
}

function withReason(status: string, reason: string | null): string {
  return reason === null ? status : `${status} (${printable(reason)})`
}
