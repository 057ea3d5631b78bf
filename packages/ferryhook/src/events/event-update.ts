/** Updates of an event, as parts of the transactions that cause them. */
import { epochSeconds } from '@strongroom/platform/clock'
import type { Item, TransactWriteItem, Value } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { derivedStatus } from '../deliveries/state.ts'
import {
  EventBodyItem,
  eventBodyKey,
  type Event,
  type EventLocator,
  EventItem,
  eventKey,
} from './item.ts'
import { eventsTable } from '../tables.ts'
import { validateChanges } from '../storage/update-expression.ts'
import { exists } from '../storage/conditions.ts'
import type { StoreDeps } from '../stores.ts'
import { isUnexpired, unlessExpired } from '../storage/time.ts'
import { WriteRejected } from '../storage/write-rejected.ts'

export type EventChanges = Partial<
  Pick<
    Event,
    | 'status'
    | 'reason'
    | 'counts'
    | 'processedAt'
    | 'deliveredAt'
    | 'replayedAt'
    | 'unverified'
    | 'lastAttempt'
    | 'expiresAt'
  >
>

/** An event that a task still needed after its expiry stays visible this long after an update. */
const RETENTION_AFTER_EXPIRY_SECONDS = 3_600

export function createEventUpdate({ db, clock }: Pick<StoreDeps, 'db' | 'clock'>) {
  const events = entity(db, eventsTable, EventItem)
  const bodies = entity(db, eventsTable, EventBodyItem)

  return {
    /** Consistent; undefined if it has expired. */
    async get(locator: EventLocator): Promise<Event | undefined> {
      return unlessExpired(clock, await events.get(eventKey.of(locator)))
    },

    /**
     * The event of a task, even if it has expired: late tasks still run, unless TTL has deleted a
     * part of the event.
     */
    async getForTask(locator: EventLocator): Promise<Event | undefined> {
      const event = await events.get(eventKey.of(locator))
      if (!event || isUnexpired(clock, event) || event.body !== undefined) return event
      return (await bodies.get(eventBodyKey.of(event))) && event
    },

    /**
     * The parts of a transaction that requires the event to be unchanged since it was read. New
     * counts set the status that follows from them; without deliveries it is set explicitly, such as
     * `unrouted`. A later expiry also extends the body. `after` is the event after
     * the transaction. Rejected with `status_derived` if deliveries decide another status.
     */
    updateStatus(
      event: Event,
      changes: EventChanges,
    ): { parts: TransactWriteItem[]; after: Event } {
      const derived = derivedStatus(changes.counts ?? event.counts)
      if (changes.status && derived && changes.status !== derived) {
        throw new WriteRejected('status_derived')
      }
      const minExpiry = isUnexpired(clock, event)
        ? 0
        : epochSeconds(clock) + RETENTION_AFTER_EXPIRY_SECONDS
      const expiresAt = Math.max(event.expiresAt, changes.expiresAt ?? 0, minExpiry)
      const status = changes.status ?? (changes.counts && derived)
      const { PK, SK } = event
      const update: Partial<Event> = { ...changes, expiresAt, rev: event.rev + 1 }
      if (status) update.status = status
      const after = { ...event, ...update }
      if (changes.reason !== undefined) validateChanges(eventsTable, EventItem, { PK, SK }, changes)
      const parts: TransactWriteItem[] = [updatePart({ PK, SK }, update, event.rev)]
      if (expiresAt > event.expiresAt && event.body === undefined) {
        const extend = expr`SET ${bodies.attr('expiresAt')} = ${expiresAt}`
        parts.push(bodies.part.update(eventBodyKey.of(event), extend, exists))
      }
      return { parts, after }
    },
  }
}

/** Every delivery updates its event, in a few different ways: each expression is built once. */
const expressions = new Map<string, { text: string; names: Record<string, string> }>()

function updatePart(Key: { PK: string; SK: string }, changes: Partial<Event>, rev: number) {
  const attributes = Object.keys(changes)
  const kind = attributes.join()
  let expression = expressions.get(kind)
  if (!expression) {
    expression = {
      text: `SET ${attributes.map((name) => `#${name} = :${name}`).join(', ')}`,
      names: Object.fromEntries(attributes.map((name) => [`#${name}`, name])),
    }
    expressions.set(kind, expression)
  }
  const values: Item = { ':before': rev }
  for (const name of attributes) values[`:${name}`] = (changes as Item)[name] as Value
  return {
    Update: {
      TableName: eventsTable.name,
      Key,
      UpdateExpression: expression.text,
      ConditionExpression: '#rev = :before',
      ExpressionAttributeNames: expression.names,
      ExpressionAttributeValues: values,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  } satisfies TransactWriteItem
}
