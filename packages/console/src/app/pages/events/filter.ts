/** The filter of the list, which is the address, and the query of the API that it means. */
import type { EventStatus } from '@strongroom/ferryhook/events/item'

export interface EventFilter {
  status: readonly string[]
  source: readonly string[]
  connection: string | undefined
  type: string | undefined
  /** Text in the body. */
  q: string | undefined
  header: string | undefined
  /** A period that ends now, unless `from` is set. */
  last: Period
  from: string | undefined
  to: string | undefined
}

/** The columns of the histogram for each period. */
export const PERIODS = {
  '15m': { label: 'Last 15 minutes', ms: 900_000, bucket: 'minute' },
  '1h': { label: 'Last hour', ms: 3_600_000, bucket: 'minute' },
  '24h': { label: 'Last 24 hours', ms: 86_400_000, bucket: '15m' },
  '7d': { label: 'Last 7 days', ms: 604_800_000, bucket: 'hour' },
  '30d': { label: 'Last 30 days', ms: 2_592_000_000, bucket: '6h' },
} as const
export type Period = keyof typeof PERIODS

export const BUCKET_MS = {
  minute: 60_000,
  '5m': 300_000,
  '15m': 900_000,
  hour: 3_600_000,
  '6h': 21_600_000,
  day: 86_400_000,
} as const
export type Bucket = keyof typeof BUCKET_MS

/** In the order of the tabs: problems first. */
export const TAB_STATUSES = [
  'failed',
  'retrying',
  'held',
  'signature_failed',
  'filtered',
  'delivered',
  'unrouted',
] as const satisfies readonly EventStatus[]

const STATUSES: readonly string[] = [...TAB_STATUSES, 'received', 'processing']

export function parseFilter(query: URLSearchParams): EventFilter {
  const list = (name: string) => (query.get(name) ?? '').split(',').filter((text) => text !== '')
  const last = query.get('last')
  return {
    status: list('status').filter((status) => STATUSES.includes(status)),
    source: list('source'),
    connection: query.get('connection') ?? undefined,
    type: query.get('type') ?? undefined,
    q: query.get('q') ?? undefined,
    header: query.get('header') ?? undefined,
    last: last !== null && last in PERIODS ? (last as Period) : '24h',
    from: timeOf(query.get('from')),
    to: timeOf(query.get('to')),
  }
}

function timeOf(text: string | null): string | undefined {
  const time = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

/** The time that the filter selects; without `to` it ends now. */
export function rangeOf(
  filter: EventFilter,
  now: number,
): { from: number; to: number | undefined } {
  const to = filter.to === undefined ? undefined : Date.parse(filter.to)
  if (filter.from !== undefined) return { from: Date.parse(filter.from), to }
  return { from: (to ?? now) - PERIODS[filter.last].ms, to }
}

/** Without the status, for counts by status. */
export function apiQuery(
  filter: EventFilter,
  now: number,
  { withStatus = true } = {},
): Record<string, string | undefined> {
  const { from, to } = rangeOf(filter, now)
  return {
    status: withStatus && filter.status.length > 0 ? filter.status.join(',') : undefined,
    source: filter.source.length > 0 ? filter.source.join(',') : undefined,
    connection: filter.connection,
    type: filter.type,
    body: filter.q,
    header: filter.header?.replace(/^([^:\s]+):(?=\S)/, '$1: '),
    from: new Date(from).toISOString(),
    to: to === undefined ? undefined : new Date(to).toISOString(),
  }
}

/** Whether only the server can decide if an event matches. */
export function needsServer({ connection, q, header }: EventFilter): boolean {
  return connection !== undefined || q !== undefined || header !== undefined
}

/** Whether an event of the stream matches, as far as the page can decide it. */
export function matches(
  filter: EventFilter,
  event: { status: string; sourceId: string; type: string | null; receivedAt: string },
): boolean {
  const { status, source, type } = filter
  if (status.length > 0 && !status.includes(event.status)) return false
  if (source.length > 0 && !source.includes(event.sourceId)) return false
  if (type !== undefined && !hasType(event.type, type)) return false
  return filter.to === undefined || event.receivedAt <= filter.to
}

function hasType(type: string | null, wanted: string): boolean {
  return wanted.endsWith('*')
    ? (type ?? '').startsWith(wanted.slice(0, -1))
    : (type ?? '') === wanted
}

/** What a text in the field means: `source:Shop`, `header:x-shop:berlin`, or text in the body. */
export function parseInput(
  text: string,
  sources: readonly { id: string; name: string }[],
): Record<string, string> | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  const [, name = '', value = ''] = /^(\w+):\s*(.+)$/.exec(trimmed) ?? []
  switch (name) {
    case 'source': {
      const wanted = value.toLowerCase()
      const source = sources.find((each) => each.id === value || each.name.toLowerCase() === wanted)
      return source ? { source: source.id } : undefined
    }
    case 'status':
      return STATUSES.includes(value) ? { status: value } : undefined
    case 'connection':
    case 'type':
    case 'header':
      return { [name]: value }
    default:
      return { q: trimmed }
  }
}
