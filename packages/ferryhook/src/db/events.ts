import { createHash } from 'node:crypto'
import { epochSeconds } from '@strongroom/kit/clock'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { queryPage } from '@strongroom/kit/query-page'
import { derivedStatus, noDeliveries } from '../items/delivery-state.ts'
import {
  DedupItem,
  dedupKey,
  EventBodyItem,
  eventBodyKey,
  type Event,
  type EventAddress,
  eventById,
  EventItem,
  eventKey,
  EventRefItem,
  eventRefKey,
  type EventStatus,
  longestBody,
} from '../items/event.ts'
import { expiryOf, type Plan } from '../plans.ts'
import { eventsTable } from '../table.ts'
import type { DataLayerDeps, PaginatedResult } from './deps.ts'
import { inlineBody, packBody, unpackBody } from './event-body.ts'
import type { EventWriter } from './event-writer.ts'
import { livePage, type PageOpts } from './live-page.ts'
import { DuplicateEvent, Refused } from './refused.ts'
import type { TaskWriter } from './task-writer.ts'
import { live } from './times.ts'
import { optimistically } from './transaction.ts'

export interface CreateEventInput extends Pick<
  Event,
  'sourceId' | 'userId' | 'headers' | 'sourceIp' | 'contentType' | 'method' | 'query' | 'reason'
> {
  /** The owner's, which decides how long the event is kept. */
  plan: Plan
  /** The bytes as they came. */
  body: Uint8Array
  /** `signature_failed` is kept to be seen: it is not routed and does not count as a first sending. */
  status?: 'received' | 'signature_failed'
  /** What the provider calls the event; a second one of the same source is a `DuplicateEvent`. */
  dedupKey?: string | undefined
}

export interface ListOpts extends PageOpts {
  status?: EventStatus | undefined
  /** Receipt times in milliseconds, both included. */
  from?: number | undefined
  to?: number | undefined
}

export function createEvents({
  db,
  clock,
  cursors,
  tasks,
  writer,
}: DataLayerDeps & { tasks: TaskWriter; writer: EventWriter }) {
  const events = entity(db, eventsTable, EventItem)
  const refs = entity(db, eventsTable, EventRefItem)
  const bodies = entity(db, eventsTable, EventBodyItem)
  const dedups = entity(db, eventsTable, DedupItem)
  const absent = expr`attribute_not_exists(${events.attr('PK')})`

  /** By id, and never behind: for whoever may have written it. */
  async function getCurrent(eventId: string): Promise<Event | null> {
    const ref = live(clock, await refs.get(eventRefKey.of({ eventId })))
    return (ref && (await writer.read(ref))) ?? null
  }

  function dedupPart(input: CreateEventInput, event: Event): TransactWriteItem[] {
    if (input.dedupKey === undefined || event.status === 'signature_failed') return []
    const keyHash = createHash('sha256').update(input.dedupKey).digest('base64url')
    const { sourceId, eventId, expiresAt } = event
    const expired = expr`${dedups.attr('expiresAt')} <= ${epochSeconds(clock)}`
    return [
      dedups.part.put(
        { ...dedupKey.of({ sourceId, keyHash }), eventId, expiresAt },
        expr`${absent} OR ${expired}`,
      ),
    ]
  }

  return {
    /** The event, all that belongs to it and the task to route it, together or not at all. */
    async create(input: CreateEventInput): Promise<Event> {
      if (input.body.byteLength > longestBody) throw new Refused('body_too_large')
      const receivedAt = clock.now()
      const { sourceId, userId, reason, contentType, query, status = 'received' } = input
      const address = { eventId: newId('evt'), sourceId, receivedAt }
      const body = inlineBody(input.body)
      const expiresAt = expiryOf(receivedAt, input.plan)
      const event: Event = {
        ...eventKey.of(address),
        ...eventById.of(address),
        ...address,
        userId,
        status,
        ...(reason !== undefined && { reason }),
        headers: input.headers,
        ...(body !== undefined && { body }),
        bodyBytes: input.body.byteLength,
        sourceIp: input.sourceIp,
        ...(contentType !== undefined && { contentType }),
        method: input.method,
        ...(query !== undefined && { query }),
        expiresAt,
        counts: noDeliveries,
        rev: 0,
      }
      const dedup = dedupPart(input, event)
      const parts: TransactWriteItem[] = [
        ...dedup,
        events.part.put(event, absent),
        refs.part.put({ ...eventRefKey.of(address), ...address, expiresAt }, absent),
      ]
      if (body === undefined) {
        const { eventId } = address
        const stored = await packBody(input.body)
        parts.push(
          bodies.part.put({ ...eventBodyKey.of({ eventId }), eventId, ...stored, expiresAt }),
        )
      }
      if (status === 'received') {
        parts.push(await tasks.route({ ...address, userId, dueAt: receivedAt }))
      }
      await transact(db, parts).catch((error: unknown) => {
        const repeated =
          dedup.length > 0 && error instanceof TransactionFailed && error.conditionFailed(0)
        if (!repeated) throw error
        const { eventId } = dedups.parse(error.reasons[0]?.item ?? {})
        throw new DuplicateEvent(eventId, { cause: error })
      })
      return event
    },

    /**
     * For those who know nothing but the id. The index says where the event is, and may be a moment
     * behind: whoever may have written the event asks `getCurrent`.
     */
    async getById(eventId: string): Promise<Event | null> {
      const { GSI1PK, GSI1SK } = eventById.of({ eventId })
      const key = expr`${events.attr('GSI1PK')} = ${GSI1PK} AND ${events.attr('GSI1SK')} = ${GSI1SK}`
      const { items } = await queryPage(
        db,
        eventsTable,
        { index: 'GSI1', key, limit: 1 },
        ({ PK, SK }) => ({ PK, SK }) as { PK: string; SK: string },
      )
      const found = items[0] && (await events.get(items[0]))
      return live(clock, found) ?? null
    },

    getCurrent,

    /** As it was last written, for those who know where it is; null if it is gone. */
    get: async (address: EventAddress): Promise<Event | null> =>
      (await writer.read(address)) ?? null,

    /** The bytes as they came; null if the event is gone. */
    async getBody(event: Pick<Event, 'eventId' | 'body'>): Promise<Uint8Array | null> {
      if (event.body !== undefined) return new TextEncoder().encode(event.body)
      const stored = live(clock, await bodies.get(eventBodyKey.of(event)))
      return stored ? unpackBody(stored) : null
    },

    /** Newest first. */
    async listBySource(sourceId: string, opts: ListOpts = {}): Promise<PaginatedResult<Event>> {
      const { status, from, to } = opts
      if (from !== undefined && to !== undefined && from > to) return { items: [], cursor: null }
      const scope = ['ferryhook.events', sourceId, JSON.stringify([status, from, to])] as const
      return livePage({ clock, cursors }, scope, opts, (part) =>
        events.query({
          key: rangeOf(sourceId, from, to),
          ...(status && { filter: expr`${events.attr('status')} = ${status}` }),
          newestFirst: true,
          ...part,
        }),
      )
    },

    /**
     * Sets a status that no delivery decides, such as `unrouted`. Refused with `status_derived` once
     * there are deliveries, unless it is theirs anyway.
     */
    async updateStatus(eventId: string, status: EventStatus): Promise<void> {
      await optimistically(async () => {
        const event = await getCurrent(eventId)
        if (!event) throw new Refused('not_found')
        const derived = derivedStatus(event.counts)
        if (derived !== undefined && derived !== status) throw new Refused('status_derived')
        await transact(db, writer.change(event, { status }).parts)
      })
    },
  }

  function rangeOf(sourceId: string, from?: number, to?: number) {
    const { PK } = eventKey.of({ sourceId, receivedAt: '', eventId: '' })
    const sort = events.attr('SK')
    const partition = expr`${events.attr('PK')} = ${PK}`
    if (from === undefined && to === undefined) {
      return expr`${partition} AND begins_with(${sort}, ${'EVT#'})`
    }
    // Ids have no character above the tilde.
    const first = `EVT#${from === undefined ? '' : sortable(from)}`
    const last = to === undefined ? 'EVT#~' : `EVT#${sortable(to)}#~`
    return expr`${partition} AND ${sort} BETWEEN ${first} AND ${last}`
  }
}

/** Thirteen digits, as the keys have them, whatever time was asked for. */
function sortable(ms: number): string {
  const within = Math.min(Math.max(Math.trunc(ms), 0), 9_999_999_999_999)
  return String(within).padStart(13, '0')
}

export type Events = ReturnType<typeof createEvents>
