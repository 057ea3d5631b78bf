/** Connections in words, for people. */
import { durationText } from '../duration.ts'
import { ageText, columns, counted, printable, relative } from '../for-people.ts'
import type { Connection } from './views.ts'

export function connectionLine(connection: Connection, source: string, now: number): string[] {
  const { id, name, destinationUrl, deliveryCount, failureCount } = connection
  return [
    id,
    printable(name),
    source,
    printable(destinationUrl),
    statusText(connection, now),
    String(deliveryCount),
    String(failureCount),
  ]
}

export function connectionFacts(connection: Connection, now: number): string {
  const { filters, transform, headerNames } = connection
  return columns([
    ['connection', connection.id],
    ['name', printable(connection.name)],
    ['source', connection.sourceId],
    ['destination', printable(connection.destinationUrl)],
    ['status', statusText(connection, now)],
    ['filter', filters.length === 0 ? 'none' : counted(filters.length, 'condition')],
    ['transform', transform.type === 'passthrough' ? 'none' : transform.type],
    ['headers', headerNames.map(printable).join(', ') || 'none'],
    ['attempts', attemptsText(connection)],
    ['limits', limitsText(connection)],
    ['delivered', String(connection.deliveryCount)],
    ['failed', String(connection.failureCount)],
    ['created', relative(connection.createdAt, now)],
  ])
}

function attemptsText({ retryConfig }: Connection): string {
  if (retryConfig === null) return 'as is standard'
  const [first = 0, ...others] = retryConfig
  const begin = first === 0 ? 'at once' : `after ${durationText(first)}`
  if (others.length === 0) return `${begin}, and no other`
  return `${begin}, then after ${others.map(durationText).join(', ')}`
}

function limitsText({ limits: { concurrency, perSecond } }: Connection): string {
  const limits = [
    concurrency === undefined ? [] : `${concurrency} at once`,
    perSecond === undefined ? [] : `${perSecond} a second`,
  ]
  return limits.flat().join(', ') || 'none'
}

function statusText({ status, statusReason, failingSince }: Connection, now: number): string {
  const since =
    failingSince === null
      ? ''
      : `, failing for ${ageText(Math.max(0, Math.floor((now - Date.parse(failingSince)) / 1000)))}`
  const why = statusReason === null ? '' : ` (${printable(statusReason)})`
  return `${status}${why}${since}`
}
