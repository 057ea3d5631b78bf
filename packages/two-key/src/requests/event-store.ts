/**
 * Ensures that each event is delivered once, although Slack sends it again when a response is late.
 *
 * A claim is short, so that Slack's next attempt can claim an event whose worker died. Only a confirmed
 * delivery is stored for a day, which is longer than Slack retries.
 */
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { Db } from '@strongroom/kit/db'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import * as z from 'zod'
import { type AppKeys, EVENT_KEY } from '../keys.ts'
import { dedupeTable } from '../tables.ts'

const CLAIM_SECONDS = 30
const CONFIRMED_SECONDS = 24 * 60 * 60

const EpochSecond = z.number().int().positive()

/** An event that is either claimed by one worker or processed. */
export const EventItem = z
  .object({
    event_id: z.string().regex(EVENT_KEY),
    ttl: EpochSecond,
    claimed_by: z
      .string()
      .regex(/^[A-Za-z0-9_-]{16,64}$/)
      .optional(),
    processed_at: EpochSecond.optional(),
  })
  .refine((item) => (item.claimed_by === undefined) !== (item.processed_at === undefined), {
    path: ['processed_at'],
  })

export type EventClaim = 'claimed' | 'in_progress' | 'processed'

export interface EventStore {
  /** Claims an event for 30 seconds. Repeating it as the same claimant succeeds. */
  claim(event: string, claimant: string): Promise<EventClaim>
  /** Records the delivery, even if the claim has expired or passed to another worker. */
  confirm(event: string): Promise<void>
  /** Releases a claim, so that Slack's next attempt can claim the event. */
  release(event: string, claimant: string): Promise<void>
}

export function createEventStore(options: {
  db: Db
  clock: Clock
  keys: Pick<AppKeys, 'eventKey'>
}): EventStore {
  const { clock, keys } = options
  const items = entity(options.db, dedupeTable, EventItem)
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
        // It is our own claim: the response of the first attempt was lost.
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
        // It was confirmed, has expired, or belongs to another claimant.
        if (!(error instanceof ConditionFailed)) throw error
      })
    },
  }
}
