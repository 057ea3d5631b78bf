/**
 * Stores a received event, its parts and its route task in one transaction. Every webhook passes
 * through here, so this code avoids all unnecessary work.
 */
import { createHash } from 'node:crypto'
import { epochSeconds } from '@strongroom/platform/clock'
import type { Item, TransactWriteItem } from '@strongroom/kit/db'
import {
  isResponseLost,
  ItemMismatch,
  StoreBusy,
  TransactionFailed,
} from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { transact } from '@strongroom/kit/transact'
import { expr } from '@strongroom/kit/expression'
import { newTimeOrderedId } from '@strongroom/kit/ids'
import { noDeliveries } from '../deliveries/state.ts'
import {
  DedupItem,
  dedupKey,
  type EventBody,
  eventBodyKey,
  type Event,
  eventById,
  EventItem,
  eventKey,
} from './item.ts'
import { MAX_BODY_BYTES } from './values.ts'
import { QuotaItem, quotaKey } from '../usage/item.ts'
import { expiryOf, type Plan } from '../plans.ts'
import { eventsTable } from '../tables.ts'
import { absent } from '../storage/conditions.ts'
import type { StoreDeps } from '../stores.ts'
import { packBody, smallBody, type StoredBody } from './body.ts'
import { WriteRejected } from '../storage/write-rejected.ts'
import type { TaskQueue } from '../queue/store.ts'
import type { Lease } from '../queue/tasks.ts'

export interface CreateEventInput extends Pick<
  Event,
  'sourceId' | 'userId' | 'headers' | 'sourceIp' | 'contentType' | 'method' | 'query' | 'reason'
> {
  /** The plan of the owner, which decides the retention. */
  plan: Plan
  /** The bytes as received. */
  body: Uint8Array
  /** Milliseconds since the epoch; defaults to now. */
  receivedAt?: number | undefined
  /** Others than `received` are stored for the owner to see, neither routed nor deduplicated. */
  status?: 'received' | 'signature_failed' | 'failed'
  /** The provider's name of what happened. */
  eventType?: string | undefined
  /** The provider's id of the event; a second event of the same source with it is a `duplicate`. */
  dedupKey?: string | undefined
  /** Of the worker of this process, if it delivers the event as soon as it is stored. */
  lease?: Lease | undefined
  /** Counts the event, unless the owner has reached the limit of the month. */
  quota?: { month: string; limit: number } | undefined
}

/** The provider sent the event before, and `eventId` is that of the stored one. */
export class DuplicateEvent extends WriteRejected {
  readonly eventId: string

  constructor(eventId: string) {
    super('duplicate')
    this.eventId = eventId
  }
}

/**
 * No write starts later than this after the receipt. Events are metered two minutes after their
 * receipt, and an event stored after that would not be counted.
 */
export const COMMIT_DEADLINE_MS = 30_000

/** A lost response costs a timeout. After this many the sender should retry. */
const MAX_ATTEMPTS = 3

/** A month has at most 31 days; the quota stays readable for some days after it. */
const QUOTA_RETENTION_SECONDS = 40 * 86_400

const TableName = eventsTable.name
const ifAbsent = {
  ConditionExpression: 'attribute_not_exists(PK)',
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
} as const

/**
 * What the caller supplies. Ingest builds the rest itself, and validating all of it would be a sixth
 * of its work.
 */
const Supplied = EventItem.pick({
  sourceId: true,
  userId: true,
  sourceIp: true,
  contentType: true,
  eventType: true,
  method: true,
  query: true,
  reason: true,
})

export function createEventInsert({
  db,
  clock,
  queue,
}: Pick<StoreDeps, 'db' | 'clock'> & { queue: Pick<TaskQueue, 'routePart'> }) {
  const dedups = entity(db, eventsTable, DedupItem)
  const quotas = entity(db, eventsTable, QuotaItem)

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
    const until = epochSeconds(clock) + QUOTA_RETENTION_SECONDS
    return quotas.part.update(
      quotaKey.of({ userId, month }),
      expr`SET ${quotas.attr('expiresAt')} = ${until} ADD ${counted} ${1}`,
      expr`attribute_not_exists(${counted}) OR ${counted} < ${limit}`,
    )
  }

  /** Rejected with `month_limit`, or as a `DuplicateEvent`. */
  async function create(input: CreateEventInput): Promise<Event> {
    if (input.body.byteLength > MAX_BODY_BYTES) throw new WriteRejected('body_too_large')
    const event = newEvent(input, input.receivedAt ?? clock.now())
    validateSupplied(event)
    const { receivedAt } = event
    const isRouted = event.status === 'received'
    const stored = smallBody(input.body) ?? (await packBody(input.body))
    const parts: TransactWriteItem[] = [
      { Put: { TableName, Item: event as Item, ...ifAbsent } },
      { Put: { TableName, Item: bodyItem(event, stored) as Item } },
    ]
    if (isRouted) {
      parts.push(await queue.routePart(event, input.lease))
    }
    const quotaAt = isRouted && input.quota ? parts.push(quotaPart(input.quota, event)) - 1 : -1
    const dedup = isRouted ? input.dedupKey : undefined
    const dedupAt = dedup === undefined ? -1 : parts.push(dedupPart(dedup, event)) - 1

    for (let attempt = 1; ; attempt++) {
      if (clock.now() - receivedAt > COMMIT_DEADLINE_MS) {
        throw new StoreBusy('The event was not stored in time. Send it again.')
      }
      try {
        await transact(db, parts)
        return event
      } catch (error) {
        if (error instanceof TransactionFailed) {
          // The id is new, so an earlier attempt was stored and its response was lost.
          if (error.conditionFailed(0)) return event
          if (error.conditionFailed(dedupAt)) {
            throw new DuplicateEvent(dedups.parse(error.reasons[dedupAt]?.item ?? {}).eventId)
          }
          if (error.conditionFailed(quotaAt)) throw new WriteRejected('month_limit')
        }
        if (!isResponseLost(error) || attempt >= MAX_ATTEMPTS) throw error
      }
    }
  }

  return create
}

/** Not validated: it repeats values of the event. */
function bodyItem(event: Event, { body, encoding }: StoredBody): EventBody {
  const { eventId, sourceId, receivedAt, expiresAt } = event
  const { PK, SK } = eventBodyKey.of(event)
  return { PK, SK, eventId, sourceId, receivedAt, body, encoding, expiresAt }
}

function validateSupplied(event: Event): void {
  const { error } = Supplied.safeParse(event)
  if (error) throw new ItemMismatch(eventsTable, event as Item, 'write', error)
}

function newEvent(input: CreateEventInput, receivedAt: number): Event {
  const { sourceId, userId, reason, contentType, query } = input
  const locator = { eventId: newTimeOrderedId('evt', receivedAt), sourceId, receivedAt }
  const { PK, SK } = eventKey.of(locator)
  const { GSI1PK, GSI1SK } = eventById.of(locator)
  const event: Event = {
    PK,
    SK,
    GSI1PK,
    GSI1SK,
    eventId: locator.eventId,
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
  // Assigned one by one, because spreading is slow. An absent attribute must not be undefined.
  if (reason !== undefined) event.reason = reason
  if (input.eventType !== undefined) event.eventType = input.eventType
  if (contentType !== undefined) event.contentType = contentType
  if (query !== undefined) event.query = query
  return event
}
