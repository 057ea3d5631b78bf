/** Changes of an event, as parts of the transactions that cause them. */
import type { TransactWriteItem } from '@strongroom/kit/db'
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
import { changeExpression } from './changes.ts'
import type { DataLayerDeps } from './deps.ts'
import { live } from './times.ts'

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
     * Holds only if nobody changed the event since it was read. New counts bring the status that
     * follows from them; a later expiry is given to the parts of the event too. `after` is the
     * event as it is once the transaction is done.
     */
    change(event: Event, change: EventChange): { parts: TransactWriteItem[]; after: Event } {
      const expiresAt = Math.max(event.expiresAt, change.expiresAt ?? 0)
      const status = change.status ?? (change.counts && derivedStatus(change.counts))
      const key = eventKey.of(event)
      const changes = { ...change, ...(status && { status }), expiresAt, rev: event.rev + 1 }
      const after = { ...event, ...changes }
      const update = changeExpression(eventsTable, EventItem, key, changes)
      const parts = [events.part.update(key, update, expr`${events.attr('rev')} = ${event.rev}`)]
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

export type EventWriter = ReturnType<typeof createEventWriter>
