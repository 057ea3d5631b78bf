/** Counts events by status, delivery state and latency, without reading headers and bodies. */
import type { Item } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { Expression, expr, Placeholders } from '@strongroom/kit/expression'
import { deliveryStates, type DeliveryCounts, noDeliveries } from '../deliveries/state.ts'
import { type Event, EventItem, eventKey, type EventStatus } from '../events/item.ts'
import { eventStatuses } from '../events/values.ts'
import type { Rollup } from './item.ts'
import { eventsTable } from '../tables.ts'
import type { StoreDeps } from '../stores.ts'

export interface CountResult {
  statistics: EventStatistics
  /** When the first of them expires, in seconds since the epoch. */
  firstExpiry: number | undefined
  events: number
  /** False if there are more events than the limit. */
  isComplete: boolean
}

const READ_BATCH = 1_000

const Counted = EventItem.pick({
  status: true,
  counts: true,
  receivedAt: true,
  deliveredAt: true,
  replayedAt: true,
  expiresAt: true,
})

export function createEventCounter({ db }: Pick<StoreDeps, 'db'>) {
  const events = entity(db, eventsTable, EventItem)
  const attributes = Object.keys(Counted.shape) as (keyof typeof Counted.shape)[]
  const projection = new Expression(
    ['', ...attributes.slice(1).map(() => ', '), ''],
    attributes.map((name) => events.attr(name)),
  )

  async function read(sourceId: string, from: number, until: number, limit: number, after?: Item) {
    // The watermark may be in the future if the clock was set back.
    if (until <= from) return { items: [], next: undefined }
    const { PK } = eventKey.of({ sourceId, receivedAt: '', eventId: '' })
    const placeholders = new Placeholders()
    const [partition, sort] = [events.attr('PK'), events.attr('SK')]
    // Excludes events received at `until`: their keys continue with an id, so they sort after it.
    const range = expr`${partition} = ${PK} AND ${sort} BETWEEN ${keyAt(from)} AND ${keyAt(until)}`
    const KeyConditionExpression = placeholders.render(range)
    const ProjectionExpression = placeholders.render(projection)
    const page = await db.query({
      TableName: eventsTable.name,
      KeyConditionExpression,
      ProjectionExpression,
      ...placeholders.parameters(),
      ConsistentRead: true,
      Limit: limit,
      ...(after && { ExclusiveStartKey: after }),
    })
    const items = (page.Items ?? []).map((item) => Counted.parse(item))
    return { items, next: page.LastEvaluatedKey }
  }

  return {
    /** Counts the events received from one time until before another, up to a limit. */
    async count(
      { sourceId, from, until }: { sourceId: string; from: number; until: number },
      {
        max = Number.POSITIVE_INFINITY,
        onEvent,
      }: { max?: number; onEvent?(event: CountedEvent): void } = {},
    ): Promise<CountResult> {
      const statistics = emptyStatistics()
      let firstExpiry: number | undefined
      let counted = 0
      let next: Item | undefined
      do {
        const limit = Math.min(READ_BATCH, max - counted)
        const page = await read(sourceId, from, until, limit, next)
        for (const event of page.items) {
          addEvent(statistics, event)
          onEvent?.(event)
          firstExpiry = Math.min(firstExpiry ?? event.expiresAt, event.expiresAt)
        }
        counted += page.items.length
        next = page.next
      } while (next && counted < max)
      return { statistics, firstExpiry, events: counted, isComplete: next === undefined }
    },

    /** When the first event in a range of time was received; the range excludes its end. */
    async first(sourceId: string, from: number, until: number): Promise<number | undefined> {
      const { items } = await read(sourceId, from, until, 1)
      return items[0]?.receivedAt
    },
  }
}

export type EventCounter = ReturnType<typeof createEventCounter>

function keyAt(ms: number): string {
  return `EVT#${String(Math.max(ms, 0)).padStart(13, '0')}`
}

export interface EventStatistics {
  events: Record<EventStatus, number>
  deliveries: DeliveryCounts
  latencies: Record<string, number>
}

export type StoredStatistics = Pick<Rollup, 'events' | 'deliveries' | 'latencies'>

/** The attributes that statistics need. */
export type CountedEvent = Pick<
  Event,
  'status' | 'counts' | 'receivedAt' | 'deliveredAt' | 'replayedAt'
>

/** Latency classes per power of two, which makes percentiles accurate to 5 %. */
const CLASSES_PER_DOUBLING = 8

export function emptyStatistics(): EventStatistics {
  const events = Object.fromEntries(eventStatuses.map((status) => [status, 0]))
  return {
    events: events as Record<EventStatus, number>,
    deliveries: { ...noDeliveries },
    latencies: {},
  }
}

export function addEvent(statistics: EventStatistics, event: CountedEvent): void {
  statistics.events[event.status] += 1
  for (const state of deliveryStates) statistics.deliveries[state] += event.counts[state]
  const { deliveredAt, replayedAt } = event
  // A replay is late on purpose, so its latency says nothing.
  if (event.status !== 'delivered' || deliveredAt === undefined || replayedAt !== undefined) return
  addTo(statistics.latencies, classOf(deliveredAt - event.receivedAt), 1)
}

export function mergeStatistics(statistics: EventStatistics, more: StoredStatistics): void {
  for (const status of eventStatuses) statistics.events[status] += more.events[status] ?? 0
  for (const state of deliveryStates) statistics.deliveries[state] += more.deliveries[state] ?? 0
  for (const [name, count] of Object.entries(more.latencies))
    addTo(statistics.latencies, name, count)
}

/** The latency in milliseconds at a percentile from 0 to 1; undefined if nothing was delivered. */
export function latencyPercentile(
  percentile: number,
  { latencies }: Pick<EventStatistics, 'latencies'>,
): number | undefined {
  const classes = Object.entries(latencies)
    .map(([name, count]) => ({ number: Number(name), count }))
    .toSorted((a, b) => a.number - b.number)
  let left = percentile * classes.reduce((sum, { count }) => sum + count, 0)
  for (const { number, count } of classes) {
    left -= count
    if (left <= 0) return Math.round(2 ** ((number + 0.5) / CLASSES_PER_DOUBLING))
  }
  return undefined
}

export function totalEvents({ events }: Pick<EventStatistics, 'events'>): number {
  return Object.values(events).reduce((total, count) => total + count, 0)
}

/** Delivered among all finished deliveries; undefined if none has finished. */
export function successRate({
  deliveries: { delivered, failed },
}: Pick<EventStatistics, 'deliveries'>): number | undefined {
  return delivered + failed === 0 ? undefined : delivered / (delivered + failed)
}

/** Events whose deliveries have not all finished. */
export function pendingEvents({ events }: Pick<EventStatistics, 'events'>): number {
  return events.received + events.processing + events.retrying + events.held
}

function classOf(ms: number): string {
  return String(Math.floor(Math.log2(Math.max(ms, 1)) * CLASSES_PER_DOUBLING))
}

function addTo(counts: Record<string, number>, name: string, count: number): void {
  counts[name] = (counts[name] ?? 0) + count
}
