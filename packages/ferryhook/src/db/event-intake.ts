/**
 * Stores what was received: the event, all that belongs to it and the task to route it, together or
 * not at all. Every webhook passes through here, so nothing is done that need not be.
 */
import { createHash } from 'node:crypto'
import { epochSeconds } from '@strongroom/kit/clock'
import type { Item, TransactWriteItem } from '@strongroom/kit/db'
import { StoreBusy, TransactionFailed } from '@strongroom/kit/db-errors'
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { isLostAnswer } from '@strongroom/kit/retrying-db'
import { noDeliveries } from '../items/delivery-state.ts'
import {
  DedupItem,
  dedupKey,
  EventBodyItem,
  eventBodyKey,
  type Event,
  eventById,
  EventItem,
  eventKey,
  eventRefKey,
  longestBody,
} from '../items/event.ts'
import { QuotaItem, quotaKey } from '../items/quota.ts'
import { expiryOf, type Plan } from '../plans.ts'
import { eventsTable } from '../table.ts'
import type { DataLayerDeps } from './deps.ts'
import { inlineBody, packBody } from './event-body.ts'
import { DuplicateEvent, Refused } from './refused.ts'
import type { TaskWriter } from './task-writer.ts'

export interface CreateEventInput extends Pick<
  Event,
  'sourceId' | 'userId' | 'headers' | 'sourceIp' | 'contentType' | 'method' | 'query' | 'reason'
> {
  /** The owner's, which decides how long the event is kept. */
  plan: Plan
  /** The bytes as they came. */
  body: Uint8Array
  /** Milliseconds since the epoch; now unless told. */
  receivedAt?: number | undefined
  /** `signature_failed` is kept to be seen: it is not routed and does not count as a first sending. */
  status?: 'received' | 'signature_failed'
  /** What the provider calls the event; a second one of the same source is a `DuplicateEvent`. */
  dedupKey?: string | undefined
  /** Counts the event, or refuses it with `month_limit` if its owner has as many in that month. */
  quota?: { month: string; limit: number } | undefined
}

/**
 * No attempt begins later than this after the receipt. Events are counted up to two minutes back, and
 * one that came to be stored after that would be left out.
 */
export const COMMIT_WITHIN_MS = 30_000

/** A lost answer takes its time: after so many the sender had better try again. */
const ATTEMPTS = 3

/** A month has 31 days at most, and who looks at it later should still find it. */
const QUOTA_KEPT_SECONDS = 40 * 86_400

const TableName = eventsTable.name
const ifAbsent = {
  ConditionExpression: 'attribute_not_exists(PK)',
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
} as const

export function createEventIntake({
  db,
  clock,
  tasks,
}: Pick<DataLayerDeps, 'db' | 'clock'> & { tasks: TaskWriter }) {
  const events = entity(db, eventsTable, EventItem)
  const bodies = entity(db, eventsTable, EventBodyItem)
  const dedups = entity(db, eventsTable, DedupItem)
  const quotas = entity(db, eventsTable, QuotaItem)
  const absent = expr`attribute_not_exists(${events.attr('PK')})`

  function dedupPart(key: string, { sourceId, eventId, expiresAt }: Event): TransactWriteItem {
    const keyHash = createHash('sha256').update(key).digest('base64url')
    const Item = { ...dedupKey.of({ sourceId, keyHash }), eventId, expiresAt }
    const expired = expr`${dedups.attr('expiresAt')} <= ${epochSeconds(clock)}`
    return dedups.part.put(Item, expr`${absent} OR ${expired}`)
  }

  function quotaPart(
    { month, limit }: NonNullable<CreateEventInput['quota']>,
    { userId }: Pick<Event, 'userId'>,
  ): TransactWriteItem {
    const counted = quotas.attr('events')
    const until = epochSeconds(clock) + QUOTA_KEPT_SECONDS
    return quotas.part.update(
      quotaKey.of({ userId, month }),
      expr`SET ${quotas.attr('expiresAt')} = ${until} ADD ${counted} ${1}`,
      expr`attribute_not_exists(${counted}) OR ${counted} < ${limit}`,
    )
  }

  async function bodyPart(bytes: Uint8Array, { eventId, expiresAt }: Event) {
    const stored = await packBody(bytes)
    return bodies.part.put({ ...eventBodyKey.of({ eventId }), eventId, ...stored, expiresAt })
  }

  async function store(
    input: CreateEventInput,
    putEvent: (event: Event) => TransactWriteItem,
  ): Promise<Event> {
    if (input.body.byteLength > longestBody) throw new Refused('body_too_large')
    const event = newEvent(input, input.receivedAt ?? clock.now())
    const { eventId, sourceId, userId, receivedAt, expiresAt } = event
    const isRouted = event.status === 'received'
    // Whatever is put beside the event consists of the same values.
    const ref = { ...eventRefKey.of(event), eventId, sourceId, receivedAt, expiresAt }
    const parts = [putEvent(event), { Put: { TableName, Item: ref, ...ifAbsent } }]
    if (event.body === undefined) parts.push(await bodyPart(input.body, event))
    if (isRouted) {
      const task = { eventId, sourceId, userId, receivedAt, dueAt: receivedAt }
      parts.push(await tasks.route(task))
    }
    const quotaAt = isRouted && input.quota ? parts.push(quotaPart(input.quota, event)) - 1 : -1
    const dedup = isRouted ? input.dedupKey : undefined
    const dedupAt = dedup === undefined ? -1 : parts.push(dedupPart(dedup, event)) - 1

    for (let attempt = 1; ; attempt++) {
      if (clock.now() - receivedAt > COMMIT_WITHIN_MS) {
        throw new StoreBusy('Cannot store an event: it took too long since its receipt')
      }
      try {
        await transact(db, parts)
        return event
      } catch (error) {
        if (error instanceof TransactionFailed) {
          // Nobody else has this id: an attempt before this one got through, unheard.
          if (error.conditionFailed(0)) return event
          if (error.conditionFailed(dedupAt)) {
            const first = dedups.parse(error.reasons[dedupAt]?.item ?? {})
            throw new DuplicateEvent(first.eventId, { cause: error })
          }
          if (error.conditionFailed(quotaAt)) throw new Refused('month_limit', { cause: error })
        }
        if (!isLostAnswer(error) || attempt >= ATTEMPTS) throw error
      }
    }
  }

  return {
    create: (input: CreateEventInput): Promise<Event> =>
      store(input, (event) => events.part.put(event, absent)),

    /**
     * The same for ingest, which makes every value itself so that it fits: to check it once more
     * would be a sixth of all the work for an event.
     */
    receive: (input: CreateEventInput): Promise<Event> =>
      store(input, (event) => ({ Put: { TableName, Item: event as Item, ...ifAbsent } })),
  }
}

export type EventIntake = ReturnType<typeof createEventIntake>

function newEvent(input: CreateEventInput, receivedAt: number): Event {
  const { sourceId, userId, reason, contentType, query } = input
  const address = { eventId: newId('evt'), sourceId, receivedAt }
  const body = inlineBody(input.body)
  const { PK, SK } = eventKey.of(address)
  const { GSI1PK, GSI1SK } = eventById.of(address)
  const event: Event = {
    PK,
    SK,
    GSI1PK,
    GSI1SK,
    eventId: address.eventId,
    sourceId,
    receivedAt,
    userId,
    status: input.status ?? 'received',
    headers: input.headers,
    bodyBytes: input.body.byteLength,
    sourceIp: input.sourceIp,
    method: input.method,
    expiresAt: expiryOf(receivedAt, input.plan),
    counts: noDeliveries,
    rev: 0,
  }
  // An attribute that is not there stays away; one by one, because spreading is slow.
  if (reason !== undefined) event.reason = reason
  if (body !== undefined) event.body = body
  if (contentType !== undefined) event.contentType = contentType
  if (query !== undefined) event.query = query
  return event
}
