/** Changes of an event, as parts of the transactions that cause them. */
import { epochSeconds } from '@strongroom/kit/clock'
import type { Item, TransactWriteItem, Value } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { derivedStatus } from '../items/delivery-state.ts'
import {
  EventBodyItem,
  eventBodyKey,
  type Event,
  type EventAddress,
  EventItem,
  eventKey,
  EventRefItem,
  eventRefKey,
} from '../items/event.ts'
import { eventsTable } from '../table.ts'
import { requireFit } from './changes.ts'
import type { DataLayerDeps } from './deps.ts'
import { isLive, live } from './times.ts'

export type EventChange = Partial<
  Pick<
    Event,
    | 'status'
    | 'reason'
    | 'counts'
    | 'processedAt'
    | 'deliveredAt'
    | 'replayedAt'
    | 'unverified'
    | 'expiresAt'
  >
>

/** What was needed beyond its expiry is kept for so long after its last change, to be seen. */
const KEPT_AFTER_EXPIRY_SECONDS = 3_600

export function createEventWriter({ db, clock }: Pick<DataLayerDeps, 'db' | 'clock'>) {
  const events = entity(db, eventsTable, EventItem)
  const refs = entity(db, eventsTable, EventRefItem)
  const bodies = entity(db, eventsTable, EventBodyItem)

  return {
    /** The event as it was last written, unless it has expired. */
    async read(address: EventAddress): Promise<Event | undefined> {
      return live(clock, await events.get(eventKey.of(address)))
    },

    /**
     * The event of a task, expired or not: a task has no expiry, so that work that nobody did in
     * time is still done, as long as TTL has deleted nothing of it.
     */
    async needed(address: EventAddress): Promise<Event | undefined> {
      const event = await events.get(eventKey.of(address))
      if (!event || isLive(clock, event)) return event
      const ref = await refs.get(eventRefKey.of(event))
      const isWhole = event.body !== undefined || (await bodies.get(eventBodyKey.of(event)))
      return ref && isWhole ? event : undefined
    },

    /**
     * Holds only if nobody changed the event since it was read. New counts bring the status that
     * follows from them; a later expiry is given to the parts of the event too. `after` is the
     * event as it is once the transaction is done.
     */
    change(event: Event, change: EventChange): { parts: TransactWriteItem[]; after: Event } {
      const late = isLive(clock, event) ? 0 : epochSeconds(clock) + KEPT_AFTER_EXPIRY_SECONDS
      const expiresAt = Math.max(event.expiresAt, change.expiresAt ?? 0, late)
      const status = change.status ?? (change.counts && derivedStatus(change.counts))
      const { PK, SK } = event
      const changes: Partial<Event> = { ...change, expiresAt, rev: event.rev + 1 }
      if (status) changes.status = status
      const after = { ...event, ...changes }
      if (change.reason !== undefined) requireFit(eventsTable, EventItem, { PK, SK }, change)
      const parts: TransactWriteItem[] = [updatePart({ PK, SK }, changes, event.rev)]
      if (expiresAt === event.expiresAt) return { parts, after }

      const { eventId } = event
      const attribute = refs.attr('expiresAt')
      const keep = expr`SET ${attribute} = ${expiresAt}`
      const exists = expr`attribute_exists(${refs.attr('PK')})`
      parts.push(refs.part.update(eventRefKey.of({ eventId }), keep, exists))
      if (event.body === undefined) {
        parts.push(bodies.part.update(eventBodyKey.of({ eventId }), keep, exists))
      }
      return { parts, after }
    },
  }
}

/**
 * Every change of a delivery is one of an event, and there are few kinds of them: the expression of
 * each is made once.
 */
const updates = new Map<string, { text: string; names: Record<string, string> }>()

function updatePart(Key: { PK: string; SK: string }, changes: Partial<Event>, rev: number) {
  const attributes = Object.keys(changes)
  const kind = attributes.join()
  let update = updates.get(kind)
  if (!update) {
    update = {
      text: `SET ${attributes.map((name) => `#${name} = :${name}`).join(', ')}`,
      names: Object.fromEntries(attributes.map((name) => [`#${name}`, name])),
    }
    updates.set(kind, update)
  }
  const values: Item = { ':before': rev }
  for (const name of attributes) values[`:${name}`] = (changes as Item)[name] as Value
  return {
    Update: {
      TableName: eventsTable.name,
      Key,
      UpdateExpression: update.text,
      ConditionExpression: '#rev = :before',
      ExpressionAttributeNames: update.names,
      ExpressionAttributeValues: values,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  } satisfies TransactWriteItem
}

export type EventWriter = ReturnType<typeof createEventWriter>
