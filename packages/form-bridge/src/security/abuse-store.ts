/** Detected abuse patterns. */
import { randomUUID } from 'node:crypto'
import { epochSeconds } from '@strongroom/platform/clock'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { Page, PageRequest } from '@strongroom/kit/paging'
import { transact } from '@strongroom/kit/transact'
import { DEFAULT_PAGE_SIZE, formBridgeTable, type StoreDeps, TTL_SECONDS } from '../tables.ts'
import { createTimeKeys, expiresIn } from '../time.ts'
import {
  type Abuse,
  AbuseItem,
  type AbuseName,
  type AbusePatternType,
  type AbuseSummary,
  AbuseSummaryItem,
} from './item.ts'

export type NewAbuse = Pick<Abuse, 'pattern_type' | 'identifier' | 'severity' | 'details'>

/** In one transaction, which may have further parts. */
const MAX_DELETIONS = 90

export type AbuseStore = ReturnType<typeof createAbuseStore>

export function createAbuseStore({ db, clock }: StoreDeps) {
  const patterns = entity(db, formBridgeTable, AbuseItem)
  const summaries = entity(db, formBridgeTable, AbuseSummaryItem)
  const nextTimeKey = createTimeKeys(clock)
  const { attr } = patterns
  // Their lifetimes differ, so a key range cannot leave out expired ones.
  const isUnexpired = () => expr`${attr('ttl')} > ${epochSeconds(clock)}`
  const hasName = ({ pattern_type, identifier }: AbuseName) =>
    expr`${attr('PK')} = ${`ABUSE#${pattern_type}`} AND begins_with(${attr('SK')}, ${`${identifier}#`})`

  return {
    async record(abuse: NewAbuse): Promise<Abuse> {
      const { iso, unique } = nextTimeKey()
      const item: Abuse = {
        ...abuse,
        PK: `ABUSE#${abuse.pattern_type}`,
        SK: `${abuse.identifier}#${unique}`,
        GSI1PK: `ABUSE_TRACKING#${abuse.identifier}`,
        GSI1SK: `TIME#${unique}`,
        GSI2PK: `ABUSE#${abuse.pattern_type}`,
        GSI2SK: unique,
        detected_at: iso,
        ttl: expiresIn(clock, TTL_SECONDS.abuse[abuse.severity]).ttl,
      }
      await patterns.put(item)
      return item
    },

    /** Deletes all detections of a pattern and returns their number. */
    async clear(name: AbuseName): Promise<number> {
      const { items } = await patterns.query({ key: hasName(name) })
      for (let at = 0; at < items.length; at += MAX_DELETIONS) {
        const some = items.slice(at, at + MAX_DELETIONS)
        await transact(
          db,
          some.map(({ PK, SK }) => patterns.part.delete({ PK, SK })),
          { token: randomUUID() },
        )
      }
      return items.length
    },

    /** Newest first. Reads consistently, because it decides whether a caller is blocked. */
    listByPattern(
      name: AbuseName,
      { limit = DEFAULT_PAGE_SIZE, after }: PageRequest = {},
    ): Promise<Page<Abuse>> {
      return patterns.query({
        key: hasName(name),
        filter: isUnexpired(),
        newestFirst: true,
        limit,
        after,
      })
    },

    /** Of any pattern type, newest first. Reads GSI1: eventually consistent. */
    listByIdentifier(
      identifier: string,
      { limit = DEFAULT_PAGE_SIZE, after }: PageRequest = {},
    ): Promise<Page<Abuse>> {
      return patterns.query({
        index: 'GSI1',
        key: expr`${attr('GSI1PK')} = ${`ABUSE_TRACKING#${identifier}`} AND begins_with(${attr('GSI1SK')}, ${'TIME#'})`,
        filter: isUnexpired(),
        newestFirst: true,
        limit,
        after,
      })
    },

    /** Newest first. Reads GSI2: eventually consistent. */
    listByType(
      pattern_type: AbusePatternType,
      { limit = DEFAULT_PAGE_SIZE, after }: PageRequest = {},
    ): Promise<Page<AbuseSummary>> {
      return summaries.query({
        index: 'GSI2',
        key: expr`${summaries.attr('GSI2PK')} = ${`ABUSE#${pattern_type}`}`,
        filter: isUnexpired(),
        newestFirst: true,
        limit,
        after,
      })
    },
  }
}
