/** Abuse patterns that were detected. */
import { epochSeconds } from '@strongroom/kit/clock'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { Page } from '@strongroom/kit/query-page'
import { endingAfter } from '../expiry.ts'
import {
  type Abuse,
  AbuseItem,
  type AbusePatternType,
  type AbuseSummary,
  AbuseSummaryItem,
} from '../items/abuse.ts'
import { lifetimes } from '../lifetimes.ts'
import { formBridgeTable } from '../table.ts'
import { createMoments } from '../time-key.ts'
import { DEFAULT_LIMIT, type PageRequest, type StoreDeps } from './deps.ts'

export type NewAbuse = Pick<Abuse, 'pattern_type' | 'identifier' | 'severity' | 'details'>

export function createAbusePatterns({ db, clock }: StoreDeps) {
  const patterns = entity(db, formBridgeTable, AbuseItem)
  const summaries = entity(db, formBridgeTable, AbuseSummaryItem)
  const nextMoment = createMoments(clock)
  const { attr } = patterns
  // They live differently long, so no range of keys leaves out those that have expired.
  const live = () => expr`${attr('ttl')} > ${epochSeconds(clock)}`

  return {
    async record(abuse: NewAbuse): Promise<Abuse> {
      const { iso, unique } = nextMoment()
      const item: Abuse = {
        ...abuse,
        PK: `ABUSE#${abuse.pattern_type}`,
        SK: `${abuse.identifier}#${unique}`,
        GSI1PK: `ABUSE_TRACKING#${abuse.identifier}`,
        GSI1SK: `TIME#${unique}`,
        GSI2PK: `ABUSE#${abuse.pattern_type}`,
        GSI2SK: unique,
        detected_at: iso,
        ttl: endingAfter(clock, lifetimes.abuse[abuse.severity]).ttl,
      }
      await patterns.put(item)
      return item
    },

    /** Forgets what is known of one pattern of one identifier; returns how many there were. */
    async clear({
      pattern_type,
      identifier,
    }: Pick<Abuse, 'pattern_type' | 'identifier'>): Promise<number> {
      const { items } = await patterns.query({
        key: expr`${attr('PK')} = ${`ABUSE#${pattern_type}`} AND begins_with(${attr('SK')}, ${`${identifier}#`})`,
      })
      for (const { PK, SK } of items) await patterns.delete({ PK, SK })
      return items.length
    },

    /** One pattern of one identifier, newest first; consistent, because a block depends on it. */
    of(
      { pattern_type, identifier }: Pick<Abuse, 'pattern_type' | 'identifier'>,
      { limit = DEFAULT_LIMIT, after }: PageRequest = {},
    ): Promise<Page<Abuse>> {
      return patterns.query({
        key: expr`${attr('PK')} = ${`ABUSE#${pattern_type}`} AND begins_with(${attr('SK')}, ${`${identifier}#`})`,
        filter: live(),
        newestFirst: true,
        limit,
        after,
      })
    },

    /** All patterns of an identifier, newest first. By the index, so a moment behind. */
    ofIdentifier(
      identifier: string,
      { limit = DEFAULT_LIMIT, after }: PageRequest = {},
    ): Promise<Page<Abuse>> {
      return patterns.query({
        index: 'GSI1',
        key: expr`${attr('GSI1PK')} = ${`ABUSE_TRACKING#${identifier}`} AND begins_with(${attr('GSI1SK')}, ${'TIME#'})`,
        filter: live(),
        newestFirst: true,
        limit,
        after,
      })
    },

    /** Of a type, newest first. By the index, so a moment behind. */
    ofType(
      pattern_type: AbusePatternType,
      { limit = DEFAULT_LIMIT, after }: PageRequest = {},
    ): Promise<Page<AbuseSummary>> {
      return summaries.query({
        index: 'GSI2',
        key: expr`${summaries.attr('GSI2PK')} = ${`ABUSE#${pattern_type}`}`,
        filter: live(),
        newestFirst: true,
        limit,
        after,
      })
    },
  }
}
