/** Figures of many events: how many are where, and how fast they were delivered. */
import { deliveryStates, type DeliveryCounts, noDeliveries } from '../items/delivery-state.ts'
import { type Event, type EventStatus, eventStatuses } from '../items/event.ts'
import type { Stat } from '../items/stat.ts'

export interface Figures {
  events: Record<EventStatus, number>
  deliveries: DeliveryCounts
  latencies: Record<string, number>
}

export type StoredFigures = Pick<Stat, 'events' | 'deliveries' | 'latencies'>

/** What is known of an event without reading what it says. */
export type CountedEvent = Pick<
  Event,
  'status' | 'counts' | 'receivedAt' | 'deliveredAt' | 'replayedAt'
>

/** Classes of times in each doubling: what they tell is right to a twentieth. */
const CLASSES = 8

export function noFigures(): Figures {
  const events = Object.fromEntries(eventStatuses.map((status) => [status, 0]))
  return {
    events: events as Record<EventStatus, number>,
    deliveries: { ...noDeliveries },
    latencies: {},
  }
}

export function addEvent(figures: Figures, event: CountedEvent): void {
  figures.events[event.status] += 1
  for (const state of deliveryStates) figures.deliveries[state] += event.counts[state]
  const { deliveredAt, replayedAt } = event
  // What was replayed was delivered late because somebody wanted it so.
  if (event.status !== 'delivered' || deliveredAt === undefined || replayedAt !== undefined) return
  addTo(figures.latencies, classOf(deliveredAt - event.receivedAt), 1)
}

export function addFigures(figures: Figures, more: StoredFigures): void {
  for (const status of eventStatuses) figures.events[status] += more.events[status] ?? 0
  for (const state of deliveryStates) figures.deliveries[state] += more.deliveries[state] ?? 0
  for (const [name, count] of Object.entries(more.latencies)) addTo(figures.latencies, name, count)
}

/** The latency in milliseconds that so large a part of all stayed within; undefined if there is none. */
export function latencyAt(part: number, { latencies }: Pick<Figures, 'latencies'>) {
  const classes = Object.entries(latencies)
    .map(([name, count]) => ({ number: Number(name), count }))
    .toSorted((a, b) => a.number - b.number)
  let left = part * classes.reduce((sum, { count }) => sum + count, 0)
  for (const { number, count } of classes) {
    left -= count
    if (left <= 0) return Math.round(2 ** ((number + 0.5) / CLASSES))
  }
  return undefined
}

/** Those of which something is still expected. */
export function openEvents({ events }: Pick<Figures, 'events'>): number {
  return events.received + events.processing + events.retrying + events.held
}

function classOf(ms: number): string {
  return String(Math.floor(Math.log2(Math.max(ms, 1)) * CLASSES))
}

function addTo(counts: Record<string, number>, name: string, count: number): void {
  counts[name] = (counts[name] ?? 0) + count
}
