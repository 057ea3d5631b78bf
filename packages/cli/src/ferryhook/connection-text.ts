/** Connections in words, for people. */
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
    ['delivered', String(connection.deliveryCount)],
    ['failed', String(connection.failureCount)],
    ['created', relative(connection.createdAt, now)],
  ])
}

function statusText({ status, statusReason, failingSince }: Connection, now: number): string {
  const since =
    failingSince === null
      ? ''
      : `, failing for ${ageText(Math.max(0, Math.floor((now - Date.parse(failingSince)) / 1000)))}`
  const why = statusReason === null ? '' : ` (${printable(statusReason)})`
  return `${status}${why}${since}`
}
