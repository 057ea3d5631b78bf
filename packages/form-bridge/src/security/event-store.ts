/** Security events: listed by site or address, and by type. */
import type { Item } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { Page, PageRequest } from '@strongroom/kit/paging'
import { DEFAULT_PAGE_SIZE, formBridgeTable, type StoreDeps, TTL_SECONDS } from '../tables.ts'
import {
  createTimeKeys,
  expiresIn,
  isoDate,
  isoNow,
  type IsoRange,
  oldestUnexpired,
  timeBounds,
} from '../time.ts'
import {
  EVENT_SHARDS,
  eventShard,
  eventTypePartition,
  MAX_USER_AGENT_LENGTH,
  type SecurityEvent,
  SecurityEventItem,
  securityEventPartition,
  type SecurityEventType,
  UNKNOWN_SITE,
} from './item.ts'

export type NewSecurityEvent = Pick<
  SecurityEvent,
  'domain' | 'event_type' | 'client_ip' | 'user_agent' | 'details'
> & { site_id?: string }

export type SecurityEventStore = ReturnType<typeof createSecurityEventStore>

export function createSecurityEventStore({ db, clock }: StoreDeps) {
  const events = entity(db, formBridgeTable, SecurityEventItem)
  const nextTimeKey = createTimeKeys(clock)
  const { attr } = events
  const emptyPage = { items: [], next: undefined }
  const earliest = () => oldestUnexpired(clock, TTL_SECONDS.securityEvent)

  /** Up to `limit` events of each shard of a day, newest first. */
  async function listDay(
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
      const { iso, unique } = nextTimeKey()
      const timeKey = `TIME#${unique}`
      const item: SecurityEvent = {
        ...event,
        // Truncated, so a caller with a long user agent does not escape the log.
        user_agent: event.user_agent.slice(0, MAX_USER_AGENT_LENGTH),
        PK: securityEventPartition(site_id === undefined ? event : { site_id }),
        SK: timeKey,
        GSI1PK: eventTypePartition(event.event_type, iso.slice(0, 10), eventShard(timeKey)),
        GSI1SK: timeKey,
        site_id: site_id ?? UNKNOWN_SITE,
        timestamp: iso,
        ttl: expiresIn(clock, TTL_SECONDS.securityEvent).ttl,
      }
      await events.put(item)
      return item
    },

    /** Of a site, or of an address whose site is unknown; newest first. */
    listBySubject(
      subject: { site_id: string } | { client_ip: string },
      { limit = DEFAULT_PAGE_SIZE, after, ...range }: PageRequest & IsoRange = {},
    ): Promise<Page<SecurityEvent>> {
      const [from, to] = timeBounds(earliest(), range)
      if (from > to) return Promise.resolve(emptyPage)
      return events.query({
        key: expr`${attr('PK')} = ${securityEventPartition(subject)} AND ${attr('SK')} BETWEEN ${from} AND ${to}`,
        newestFirst: true,
        limit,
        after,
      })
    },

    /**
     * Newest first. Time keys are unique, so a page continues after the time key of its last event,
     * whichever shard has it. Reads GSI1: eventually consistent.
     */
    async listByType(
      type: SecurityEventType,
      { limit = DEFAULT_PAGE_SIZE, after, ...range }: PageRequest & IsoRange = {},
    ): Promise<Page<SecurityEvent>> {
      // Days in the future have no events, and each day costs a read of every shard.
      const now = isoNow(clock)
      const to = range.to !== undefined && range.to < now ? range.to : now
      const [from, last] = timeBounds(earliest(), { ...range, to })
      const start = timeKeyIn(after)
      if (from > (start ?? last)) return emptyPage
      const found: SecurityEvent[] = []
      for (const date of daysBackwards(start ?? last, from)) {
        // One more shows whether there is a next page; another one is the event at `start`.
        const wanted = limit + 2 - found.length
        const day = await listDay(type, date, [from, start ?? last], wanted)
        found.push(...day.filter(({ GSI1SK }) => GSI1SK !== start))
        if (found.length > limit) break
      }
      const items = found.slice(0, limit)
      const next = found.length > limit ? items.at(-1) : undefined
      return { items, next: next && { GSI1SK: next.GSI1SK } }
    },
  }
}

function timeKeyIn(after: Item | undefined): string | undefined {
  return typeof after?.GSI1SK === 'string' ? after.GSI1SK : undefined
}

function byNewest(a: SecurityEvent, b: SecurityEvent): number {
  return a.GSI1SK < b.GSI1SK ? 1 : -1
}

const DAY_MS = 86_400_000

/** The dates of two time keys and all between them, latest first. */
function* daysBackwards(latest: string, earliest: string): Generator<string> {
  const dateOf = (timeKey: string) => timeKey.slice('TIME#'.length, 'TIME#yyyy-mm-dd'.length)
  const first = Date.parse(dateOf(earliest))
  for (let day = Date.parse(dateOf(latest)); day >= first; day -= DAY_MS) yield isoDate(day)
}
