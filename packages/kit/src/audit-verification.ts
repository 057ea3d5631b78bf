/**
 * Verifies the hash chains of the audit log, in pieces: each call reads a limited number of entries and
 * gives other work a turn between reads, so that a server can verify a long log.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import {
  AuditHeadItem,
  AuditLogItem,
  FIRST_HASH,
  entryHash,
  monthName,
  monthsOf,
  RETENTION_SECONDS,
  sortKeyOf,
} from './audit-item.ts'
import type { Db, Item } from './db.ts'
import { entity } from './entity.ts'
import { expr } from './expression.ts'
import { operationsTable } from './operations-table.ts'
import type { Page } from './paging.ts'

/** Entries that one call may verify. */
export const MAX_VERIFIED_ENTRIES = 1_000
/** Entries that are read and hashed without a turn for others. */
const READ_SIZE = 100

/** What was found in one month, or in a part of it. */
export interface AuditMonthCheck {
  month: string
  entries: number
  /** The hash of the last entry; undefined if the month has none. */
  last: string | undefined
  findings: { seq: number; message: string }[]
}

export interface AuditVerification {
  entries: number
  months: { month: string; entries: number; last: string }[]
  findings: { month: string; seq: number; message: string }[]
}

/** Where the next call continues: after this entry, or with the first one of the month. */
interface Position {
  PK: string
  SK?: string
  seq?: number
  hash?: string
}

export function createAuditVerification({ db, clock }: { db: Db; clock: Clock }) {
  const entries = entity(db, operationsTable, AuditLogItem)
  const heads = entity(db, operationsTable, AuditHeadItem)

  async function checkMonth(
    { PK, ...after }: Position,
    limit: number,
  ): Promise<{ check: AuditMonthCheck; next: Position | undefined }> {
    const month = monthName(PK)
    const check: AuditMonthCheck = { month, entries: 0, last: undefined, findings: [] }
    const found = (seq: number, message: string) => check.findings.push({ seq, message })
    const key = expr`${entries.attr('PK')} = ${PK} AND ${entries.attr('SK')} BETWEEN ${'0'} AND ${':'}`
    const { SK, seq = 0, hash = '' } = after
    let last = SK === undefined ? undefined : { SK, seq, hash }
    for (;;) {
      const page = await entries.query({
        key,
        limit: Math.min(READ_SIZE, limit - check.entries),
        after: last && { PK, SK: last.SK },
      })
      for (const item of page.items) {
        if (last ? item.seq !== last.seq + 1 : item.seq !== 1 && !mayBePurged(month)) {
          found(item.seq, 'Entries before this one are missing')
        } else if (item.previousHash !== (last?.hash ?? firstPreviousHash(item))) {
          found(item.seq, 'The entry before this one was replaced')
        }
        if (entryHash(item) !== item.hash || item.SK !== sortKeyOf(item.seq)) {
          found(item.seq, 'The entry was changed')
        }
        last = { SK: item.SK, seq: item.seq, hash: item.hash }
        check.last = item.hash
        check.entries += 1
      }
      if (page.next === undefined) {
        const head = await heads.get({ PK, SK: 'HEAD' })
        if (head?.seq === last?.seq && head?.hash === last?.hash) return { check, next: undefined }
        // A head that is ahead may belong to entries that were written after the read.
        if (page.items.length === 0) {
          const isPurged = last === undefined && mayBePurged(month)
          const at = head?.seq ?? last?.seq ?? 0
          if (!isPurged) found(at, 'The last entries or the head are missing')
          return { check, next: undefined }
        }
      }
      if (check.entries >= limit) return { check, next: { PK, ...last } }
      await nextTurn()
    }
  }

  /** The first entries of a month are purged while the last ones are still kept. */
  function mayBePurged(month: string): boolean {
    return Date.parse(`${month}-01T00:00:00Z`) / 1000 + RETENTION_SECONDS <= epochSeconds(clock)
  }

  /** Verifies up to `limit` entries, oldest month first. */
  async function verifyPage({
    limit,
    after,
  }: {
    limit: number
    after?: Item | undefined
  }): Promise<Page<AuditMonthCheck>> {
    const position = after as Position | undefined
    const checks: AuditMonthCheck[] = []
    let left = limit
    for (const PK of monthsOf(clock).toReversed()) {
      if (position && PK < position.PK) continue
      if (left <= 0) return { items: checks, next: { PK } }
      const { check, next } = await checkMonth(position?.PK === PK ? position : { PK }, left)
      if (check.entries > 0 || check.findings.length > 0) checks.push(check)
      if (next) return { items: checks, next: { ...next } }
      left -= check.entries
    }
    return { items: checks, next: undefined }
  }

  return {
    verifyPage,

    async verify(): Promise<AuditVerification> {
      const checks: AuditMonthCheck[] = []
      let after: Item | undefined
      do {
        const page = await verifyPage({ limit: MAX_VERIFIED_ENTRIES, after })
        checks.push(...page.items)
        after = page.next
      } while (after)
      return toAuditVerification(checks)
    },
  }
}

/** Adds up the parts of each month. */
export function toAuditVerification(checks: readonly AuditMonthCheck[]): AuditVerification {
  const months = new Map<string, { month: string; entries: number; last: string }>()
  for (const { month, entries, last } of checks) {
    if (last === undefined) continue
    const sum = (months.get(month)?.entries ?? 0) + entries
    months.set(month, { month, entries: sum, last })
  }
  return {
    entries: checks.reduce((sum, { entries }) => sum + entries, 0),
    months: [...months.values()],
    findings: checks.flatMap(({ month, findings }) =>
      findings.map((finding) => ({ month, ...finding })),
    ),
  }
}

/** If entries before the first one were purged, its previous hash cannot be checked. */
function firstPreviousHash({ seq, previousHash }: AuditLogItem): string {
  return seq === 1 ? FIRST_HASH : previousHash
}
