/** Text output for sources, connections, events and replays. */
import type { Output } from '../command.ts'
import {
  formatDuration,
  formatAge,
  columns,
  pluralize,
  escapeControls,
  formatRelative,
} from '../output.ts'
import type {
  Attempt,
  Connection,
  Delivery,
  Event,
  EventDetail,
  FieldRule,
  Replay,
  Source,
} from './views.ts'

export function connectionLine(connection: Connection, source: string, now: number): string[] {
  const { id, name, destinationUrl, deliveryCount, failureCount } = connection
  return [
    id,
    escapeControls(name),
    source,
    escapeControls(destinationUrl),
    statusText(connection, now),
    String(deliveryCount),
    String(failureCount),
  ]
}

export function connectionText(connection: Connection, source: string, now: number): string {
  const { filters, transform, headerNames } = connection
  return columns([
    ['connection', connection.id],
    ['name', escapeControls(connection.name)],
    ['source', named(source, connection.sourceId)],
    ['destination', escapeControls(connection.destinationUrl)],
    ['status', statusText(connection, now)],
    ['circuit', circuitText(connection, now)],
    ['filter', filters.length === 0 ? 'none' : pluralize(filters.length, 'condition')],
    ['transform', transform.type === 'passthrough' ? 'none' : transform.type],
    ['headers', headerNames.map(escapeControls).join(', ') || 'none'],
    ['retries', retriesText(connection)],
    ['limits', limitsText(connection)],
    ['delivered', String(connection.deliveryCount)],
    ['failed', String(connection.failureCount)],
    ['created', formatRelative(connection.createdAt, now)],
  ])
}

/** A server of another version may omit it. */
function circuitText({ circuit }: Connection, now: number): string {
  if (!circuit || circuit.state === 'closed') return 'closed'
  const since = circuit.since === null ? '' : ` since ${formatRelative(circuit.since, now)}`
  if (circuit.state === 'half_open' || circuit.nextAttemptAt === null) {
    return `half-open${since}, next attempt decides`
  }
  return `open${since}, next attempt ${formatRelative(circuit.nextAttemptAt, now)}`
}

function retriesText({ retryConfig }: Connection): string {
  if (retryConfig === null) return 'standard (8 attempts over 41 h)'
  const [first = 0, ...others] = retryConfig
  const begin = first === 0 ? 'immediately' : `after ${formatDuration(first)}`
  if (others.length === 0) return `${begin}, no retries`
  return `${begin}, then after ${others.map(formatDuration).join(', ')}`
}

function limitsText({ limits: { concurrency, perSecond } }: Connection): string {
  const limits = [
    concurrency === undefined ? [] : `${concurrency} concurrent`,
    perSecond === undefined ? [] : `${perSecond} per second`,
  ]
  return limits.flat().join(', ') || 'none'
}

function statusText({ status, statusReason, failingSince }: Connection, now: number): string {
  const since =
    failingSince === null
      ? ''
      : `, failing for ${formatAge(Math.max(0, Math.floor((now - Date.parse(failingSince)) / 1000)))}`
  const why = statusReason === null ? '' : ` (${escapeControls(statusReason)})`
  return `${status}${why}${since}`
}

export function eventLine(event: Event, source: string, now: number): string[] {
  const { id, receivedAt, contentType, bodyBytes } = event
  return [
    id,
    formatRelative(receivedAt, now),
    withReason(event.status, event.reason),
    source,
    escapeControls(event.type ?? ''),
    deliveriesText(event),
    pluralize(bodyBytes, 'byte'),
    escapeControls(contentType ?? ''),
  ]
}

export function eventText(event: EventDetail, now: number): string {
  const { deliveries, attempts, query } = event
  const facts = [
    ['event', event.id],
    ['source', named(event.sourceName, event.sourceId)],
    ['type', escapeControls(event.type ?? 'unknown')],
    ['status', withReason(event.status, event.reason)],
    ['received', `${formatRelative(event.receivedAt, now)}, ${event.receivedAt}`],
    ['from', escapeControls(event.sourceIp)],
    ['request', `${event.method}${query === null ? '' : ` ?${escapeControls(query)}`}`],
    [
      'body',
      `${pluralize(event.bodyBytes, 'byte')} ${escapeControls(event.contentType ?? '')}`.trim(),
    ],
    ['expires', formatRelative(event.expiresAt, now)],
  ]
  return [
    columns(facts),
    deliveries.length === 0
      ? ''
      : `\n${columns([DELIVERY_COLUMNS, ...deliveries.map(deliveryLine(now))])}`,
    attempts.length === 0
      ? ''
      : `\n${columns([ATTEMPT_COLUMNS, ...attempts.map(attemptLine(now))])}`,
    ...lastResponses(attempts).map(responseText),
  ].join('')
}

/** The last attempt of each connection that got a response, unless that has no headers. */
function lastResponses(attempts: readonly Attempt[]): Attempt[] {
  const answered = attempts.filter(({ responseHeaders }) => responseHeaders)
  const last = [...new Map(answered.map((attempt) => [attempt.connectionId, attempt])).values()]
  return last.filter(({ responseHeaders }) => Object.keys(responseHeaders ?? {}).length > 0)
}

function responseText(attempt: Attempt): string {
  const { connectionName, connectionId, number, run, responseHeaders } = attempt
  const rows = Object.entries(responseHeaders ?? {}).map((row) => row.map(escapeControls))
  const connection = escapeControls(connectionName ?? connectionId)
  return `\nRESPONSE HEADERS of ${connection}, run ${run}, attempt ${number}\n${columns(rows)}`
}

function named(name: string | null | undefined, id: string): string {
  return name ? `${escapeControls(name)} (${id})` : id
}

const DELIVERY_COLUMNS = ['CONNECTION', 'STATE', 'RUN', 'ATTEMPTS', 'NEXT ATTEMPT']

const deliveryLine =
  (now: number) =>
  (delivery: Delivery): string[] => {
    const { connectionId, connectionName, nextAttemptAt } = delivery
    return [
      named(connectionName, connectionId),
      withReason(delivery.state, delivery.reason),
      String(delivery.run),
      String(delivery.attemptsMade),
      nextAttemptAt === null ? '' : formatRelative(nextAttemptAt, now),
    ]
  }

const ATTEMPT_COLUMNS = ['CONNECTION', 'RUN', 'ATTEMPT', 'WHEN', 'STATUS', 'TOOK', 'ERROR']

const attemptLine =
  (now: number) =>
  (attempt: Attempt): string[] => {
    const { connectionId, connectionName, statusCode } = attempt
    return [
      escapeControls(connectionName ?? connectionId),
      String(attempt.run),
      String(attempt.number),
      formatRelative(attempt.attemptedAt, now),
      statusCode === 0 ? 'none' : String(statusCode),
      `${attempt.latencyMs} ms`,
      escapeControls(attempt.error ?? ''),
    ]
  }

function deliveriesText({ deliveries }: Event): string {
  const some = Object.entries(deliveries).filter(([, number]) => number > 0)
  return (
    some
      .map(([state, number]) => `${number} ${state === 'runnable' ? 'waiting' : state}`)
      .join(', ') || 'none'
  )
}

function withReason(status: string, reason: string | null): string {
  return reason === null ? status : `${status} (${escapeControls(reason)})`
}

export function progressText({ progress, events, deliveries }: Replay): string {
  const percent = Math.round(progress * 100)
  return `${percent} %: ${pluralize(events.matched, 'event')} found, ${replayed(deliveries)}`
}

export function outcomeText({ state, events, deliveries }: Replay): string {
  const leftOut = [
    deliveries.runOpen > 0 ? `${deliveries.runOpen} still in progress` : '',
    events.unverified > 0 ? `${events.unverified} with failed verification` : '',
    events.gone > 0 ? `${events.gone} expired` : '',
  ].filter((each) => each !== '')
  return [
    state === 'cancelled' ? 'Cancelled: ' : '',
    `${pluralize(events.matched, 'event')} found, ${replayed(deliveries)}\n`,
    leftOut.length === 0 ? '' : `Skipped: ${leftOut.join(', ')}\n`,
  ].join('')
}

export function replaysText(replays: readonly Replay[], now: number): string {
  if (replays.length === 0) return 'No replays in the last 30 days\n'
  const head = ['ID', 'STARTED', 'SOURCE', 'STATUS', 'TYPE', 'STATE', 'EVENTS', 'DELIVERIES']
  const rows = replays.map((replay) => {
    const { state, progress, events, deliveries } = replay
    return [
      replay.id,
      formatRelative(replay.createdAt, now),
      escapeControls(replay.sourceName ?? replay.sourceId),
      escapeControls(replay.status ?? 'any'),
      escapeControls(replay.type ?? 'any'),
      state === 'running' ? `running, ${Math.round(progress * 100)} %` : state,
      String(events.matched),
      String(deliveries.replayed),
    ]
  })
  return columns([head, ...rows])
}

function replayed({ replayed: number }: Replay['deliveries']): string {
  return `${pluralize(number, 'delivery', 'deliveries')} replayed`
}

export function sourceText(source: Source, now: number): string {
  const { verifies, signingAlgorithm, provider, lastEventAt } = source
  const came = lastEventAt === null ? '' : `, last ${formatRelative(lastEventAt, now)}`
  return columns([
    ['source', source.id],
    ['name', escapeControls(source.name)],
    ['provider', provider],
    ['url', source.url],
    ['status', source.status],
    ['verification', verifies ? (signingAlgorithm ?? provider) : 'none: accepts all requests'],
    ['methods', source.methods.join(', ')],
    ['event id', fieldRuleText(source.dedup)],
    ['event type', fieldRuleText(source.eventType)],
    ['credentials', credentialsText(source)],
    ['events', `${eventCountText(source)}${came}`],
    ['created', formatRelative(source.createdAt, now)],
  ])
}

export function eventCountText(source: Pick<Source, 'eventCount' | 'eventCountIsLowerBound'>) {
  return countText(source.eventCount, source.eventCountIsLowerBound)
}

export function usageText(user: { usageThisMonth: number; usageIsLowerBound?: boolean }): string {
  return countText(user.usageThisMonth, user.usageIsLowerBound)
}

function countText(count: number, isLowerBound = false): string {
  return `${count}${isLowerBound ? '+' : ''}`
}

function fieldRuleText(rule: FieldRule | null = null): string {
  if (rule === null) return 'standard of the provider'
  if (rule.by === 'none') return 'none'
  return rule.by === 'path'
    ? `${escapeControls(rule.path)} in the body`
    : `the header ${escapeControls(rule.name)}`
}

/** A server of another version may omit them. */
function credentialsText({ credentialHeaders = [] }: Partial<Source>): string {
  return escapeControls(['standard', ...credentialHeaders].join(', '))
}

export interface TestResult {
  ok: boolean
  reason: string
  /** 0 without a response. */
  statusCode: number
  latencyMs: number
}

/** Returns the exit code. */
export function printTestResult(output: Output, tested: TestResult): number {
  const { ok, reason, statusCode, latencyMs } = tested
  const response = statusCode === 0 ? 'no response' : `status ${statusCode}`
  const outcome = ok ? 'Delivered: ' : `Not delivered: ${reason}, `
  output.result(`${outcome}${response} after ${latencyMs} ms\n`, tested)
  return ok ? 0 : 1
}
