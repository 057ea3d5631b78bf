/** Security events: written by anybody who fails, read by site or address and by type. */
import type { Item } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { Page } from '@strongroom/kit/query-page'
import { earliestLive, endingAfter, isoNow } from '../expiry.ts'
import {
  EVENT_SHARDS,
  eventShard,
  eventTypePartition,
  LONGEST_USER_AGENT,
  type SecurityEvent,
  SecurityEventItem,
  securityEventPartition,
  type SecurityEventType,
  UNKNOWN_SITE,
} from '../items/security-event.ts'
import { lifetimes } from '../lifetimes.ts'
import { formBridgeTable } from '../table.ts'
import { type IsoRange, createMoments, timeBounds } from '../time-key.ts'
import { DEFAULT_LIMIT, type PageRequest, type StoreDeps } from './deps.ts'

export type NewSecurityEvent = Pick<
  SecurityEvent,
  'domain' | 'event_type' | 'client_ip' | 'user_agent' | 'details'
> & { site_id?: string }

export function createSecurityEvents({ db, clock }: StoreDeps) {
  const events = entity(db, formBridgeTable, SecurityEventItem)
  const nextMoment = createMoments(clock)
  const { attr } = events
  const nothing = { items: [], next: undefined }

  /** Up to `limit` of one day, newest first, from all of its shards. */
  async function ofDay(
    type: SecurityEventType,
    date: string,
    [from, to]: [string, string],
    limit: number,
  ): Promise<SecurityEvent[]> {
    const shards = await Promise.all(
      Array.from({ length: EVENT_SHARDS }, (_, shard) =>
        events.query({
          index: 'GSI1',
          key: expr`${attr('GSI1PK')} = ${eventTypePartition(type, date, shard)} AND ${attr('GSI1SK')} BETWEEN ${from} AND ${to}`,
          newestFirst: true,
          limit,
        }),
      ),
    )
    return shards.flatMap(({ items }) => items).toSorted(byNewest)
  }

  return {
    async record({ site_id, ...event }: NewSecurityEvent): Promise<SecurityEvent> {
      const { iso, unique } = nextMoment()
      const timeKey = `TIME#${unique}`
      const item: SecurityEvent = {
        ...event,
        // Whoever sends a long one must not escape the log.
        user_agent: event.user_agent.slice(0, LONGEST_USER_AGENT),
        PK: securityEventPartition(site_id === undefined ? event : { site_id }),
        SK: timeKey,
        GSI1PK: eventTypePartition(event.event_type, iso.slice(0, 10), eventShard(timeKey)),
        GSI1SK: timeKey,
        site_id: site_id ?? UNKNOWN_SITE,
        timestamp: iso,
        ttl: endingAfter(clock, lifetimes.securityEvent).ttl,
      }
      await events.put(item)
      return item
    },

    /** Of a site, or of an address whose site is not known; newest first. */
    of(
      subject: { site_id: string } | { client_ip: string },
      { limit = DEFAULT_LIMIT, after, ...range }: PageRequest & IsoRange = {},
    ): Promise<Page<SecurityEvent>> {
      const [from, to] = timeBounds(earliestLive(clock, lifetimes.securityEvent), range)
      if (from > to) return Promise.resolve(nothing)
      return events.query({
        key: expr`${attr('PK')} = ${securityEventPartition(subject)} AND ${attr('SK')} BETWEEN ${from} AND ${to}`,
        newestFirst: true,
        limit,
        after,
      })
    },

    /**
     * Of a type, newest first. Time keys are unique, so the place in the list is the time key of
     * the last event, in whichever shard it was. By the index, so a moment behind.
     */
    async ofType(
      type: SecurityEventType,
      { limit = DEFAULT_LIMIT, after, ...range }: PageRequest & IsoRange = {},
    ): Promise<Page<SecurityEvent>> {
      // Nothing is later than now, and each day costs a read of every shard.
      const now = isoNow(clock)
      const to = range.to !== undefined && range.to < now ? range.to : now
      const [from, last] = timeBounds(earliestLive(clock, lifetimes.securityEvent), {
        ...range,
        to,
      })
      const end = placeIn(after)
      if (from > (end ?? last)) return nothing
      const found: SecurityEvent[] = []
      for (const date of daysBackwards(end ?? last, from)) {
        // One more than wanted tells whether there is a next page; another one is `end` itself.
        const wanted = limit + 2 - found.length
        const day = await ofDay(type, date, [from, end ?? last], wanted)
        found.push(...day.filter(({ GSI1SK }) => GSI1SK !== end))
        if (found.length > limit) break
      }
      const items = found.slice(0, limit)
      const next = found.length > limit ? items.at(-1) : undefined
      return { items, next: next && { GSI1SK: next.GSI1SK } }
    },
  }
}

function placeIn(after: Item | undefined): string | undefined {
  return typeof after?.GSI1SK === 'string' ? after.GSI1SK : undefined
}

function byNewest(a: SecurityEvent, b: SecurityEvent): number {
  return a.GSI1SK < b.GSI1SK ? 1 : -1
}

const DAY_MS = 86_400_000

/** The dates from one time key back to another. */
function* daysBackwards(from: string, back: string): Generator<string> {
  const dateOf = (timeKey: string) => timeKey.slice('TIME#'.length, 'TIME#yyyy-mm-dd'.length)
  const first = Date.parse(dateOf(back))
  for (let day = Date.parse(dateOf(from)); day >= first; day -= DAY_MS) {
    yield new Date(day).toISOString().slice(0, 10)
  }
}
