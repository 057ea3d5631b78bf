/**
 * Each event is handed over once, although Slack sends it again when an answer is late.
 *
 * A claim is short, so that an event whose worker died is taken up by Slack's next delivery; only
 * a durable hand-over is remembered for a day, longer than Slack's last delivery can be late.
 */
import { type Clock, epochSeconds } from '@strongroom/kit/clock'
import type { Db } from '@strongroom/kit/db'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { AppKeys } from './keys.ts'
import { CLAIM_SECONDS, CONFIRMED_SECONDS, DedupeItem, dedupeTable } from './table.ts'

export type EventClaim = 'claimed' | 'in_progress' | 'processed'

export interface EventDedupe {
  /** Claims an event for 30 seconds. The same claimant asking again still has it. */
  claim(event: string, claimant: string): Promise<EventClaim>
  /** The event is handed over for good, whoever holds its claim by now. */
  confirm(event: string): Promise<void>
  /** Gives a claim back, so that the next delivery of the event is taken at once. */
  release(event: string, claimant: string): Promise<void>
}

export function createEventDedupe(options: {
  db: Db
  clock: Clock
  keys: Pick<AppKeys, 'eventKey'>
}): EventDedupe {
  const { clock, keys } = options
  const items = entity(options.db, dedupeTable, DedupeItem)
  const ttl = items.attr('ttl')

  return {
    async claim(event, claimant) {
      const now = epochSeconds(clock)
      const item = { ...keys.eventKey(event), ttl: now + CLAIM_SECONDS, claimed_by: claimant }
      const isFree = expr`attribute_not_exists(${items.attr('event_id')}) OR ${ttl} <= ${now}`
      try {
        await items.put(item, isFree)
        return 'claimed'
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error
        const held = error.item && items.parse(error.item)
        // Its own claim, whose answer got lost.
        if (held?.claimed_by === claimant) return 'claimed'
        return held?.processed_at === undefined ? 'in_progress' : 'processed'
      }
    },

    async confirm(event) {
      const now = epochSeconds(clock)
      await items.put({
        ...keys.eventKey(event),
        ttl: now + CONFIRMED_SECONDS,
        processed_at: now,
      })
    },

    async release(event, claimant) {
      const isMine = expr`${items.attr('claimed_by')} = ${claimant}`
      await items.delete(keys.eventKey(event), isMine).catch((error: unknown) => {
        // Confirmed, lapsed or taken over by another: then there is nothing to give back.
        if (!(error instanceof ConditionFailed)) throw error
      })
    },
  }
}
