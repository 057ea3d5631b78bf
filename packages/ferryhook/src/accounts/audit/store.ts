/**
 * The audit log: who did what. The entry of a change is part of the transaction that makes the change.
 * Entries never contain secrets.
 */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { createUlids, ulidTime } from '@strongroom/kit/ids'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import { type PageOpts, readPage, type Search } from '../../storage/paging.ts'
import { isoNow } from '../../storage/time.ts'
import type { PaginatedResult, StoreDeps } from '../../stores.ts'
import { eventsTable } from '../../tables.ts'
import { type AuditAction, type AuditChange, type AuditEntry, AuditItem, auditKey } from './item.ts'

const RETENTION_SECONDS = 365 * 86_400

interface AuditInput {
  userId: string
  /** As in `Principal`, or `operator:{name}`. */
  actor: string
  action: AuditAction
  target?: string | undefined
  changes?: readonly AuditChange[] | undefined
}

/** The target is only needed where the changed item does not determine it. */
export type AuditInfo = Omit<AuditInput, 'userId'>

/** Options of a write that is recorded in the audit log if `by` is set. */
export interface Audited {
  by?: AuditInfo | undefined
}

export interface AuditFilter {
  actor?: string | undefined
  /** An action, or the beginning of actions and an asterisk: `source.*`. */
  action?: string | undefined
  target?: string | undefined
  /** In milliseconds: from the first, before the second. */
  from?: number | undefined
  to?: number | undefined
}

/** Entries that are read for one page of a filtered listing; its cursor continues. */
const MAX_READ_ENTRIES = 1_000

/** A cursor is valid for the same filter only. */
function toSearch({
  actor,
  action,
  target,
  from,
  to,
}: AuditFilter): Search<AuditEntry> | undefined {
  const filter = [actor, action, target, from, to]
  if (filter.every((each) => each === undefined)) return undefined
  let read = 0
  return {
    id: JSON.stringify(filter),
    matches(entry) {
      read += 1
      return (
        (actor === undefined || entry.actor === actor) &&
        (action === undefined || isAction(entry.action, action)) &&
        (target === undefined || isTarget(entry.target, target))
      )
    },
    isSpent: () => read >= MAX_READ_ENTRIES,
  }
}

function isAction(action: string, pattern: string): boolean {
  return pattern.endsWith('*') ? action.startsWith(pattern.slice(0, -1)) : action === pattern
}

/** Deliveries are `eventId/connectionId`, and are found by either. */
function isTarget(target: string | undefined, wanted: string): boolean {
  return target !== undefined && (target === wanted || target.split('/').includes(wanted))
}

const ulids = new WeakMap<Clock, ReturnType<typeof createUlids>>()

/** Stores on one clock share it, so that their entries of one millisecond keep their order. */
function sharedUlids(clock: Clock): ReturnType<typeof createUlids> {
  const shared = ulids.get(clock) ?? createUlids()
  ulids.set(clock, shared)
  return shared
}

export type AuditStore = ReturnType<typeof createAuditStore>

/** What stores need to record their changes. */
export type AuditWriter = Pick<AuditStore, 'parts'>

export function createAuditStore({ db, clock, cursors }: StoreDeps) {
  const entries = entity(db, eventsTable, AuditItem)
  const newUlid = sharedUlids(clock)

  function newEntry({ userId, actor, action, target, changes = [] }: AuditInput): AuditEntry {
    const entryId = newUlid(clock.now())
    return {
      ...auditKey.of({ userId, entryId }),
      userId,
      entryId,
      actor,
      action,
      ...(target !== undefined && { target }),
      ...(changes.length > 0 && { changes: [...changes] }),
      at: isoNow(clock),
      expiresAt: epochSeconds(clock) + RETENTION_SECONDS,
    }
  }

  return {
    /** Records an action that changes nothing in the store, such as an export. */
    async add(input: AuditInput): Promise<AuditEntry> {
      const entry = newEntry(input)
      await entries.put(entry)
      return entry
    },

    /**
     * The transaction part that records a change, or none without `by`. It has no condition; append it
     * last, so that it does not shift the positions of other parts.
     */
    parts(
      by: AuditInfo | undefined,
      subject: Pick<AuditInput, 'userId' | 'target'>,
    ): TransactWriteItem[] {
      return by ? [entries.part.put(newEntry({ ...by, ...subject }))] : []
    },

    /** Newest first. A filtered page may be short; there are more as long as it has a cursor. */
    listByUser(
      userId: string,
      { from, to, ...opts }: PageOpts & AuditFilter = {},
    ): Promise<PaginatedResult<AuditEntry>> {
      const [PK, SK] = [entries.attr('PK'), entries.attr('SK')]
      // Ids begin with their time, and those of one millisecond sort between its own and the next.
      const { PK: partition, SK: first } = auditKey.of({ userId, entryId: ulidTime(from ?? 0) })
      const { SK: last } = auditKey.of({ userId, entryId: to === undefined ? '~' : ulidTime(to) })
      const key = expr`${PK} = ${partition} AND ${SK} BETWEEN ${first} AND ${last}`
      const search = toSearch({ from, to, ...opts })
      const scope = ['ferryhook.audit', userId] as const
      return readPage(
        { clock, cursors },
        search ? [...scope, search.id] : scope,
        { ...opts, search },
        (part) => entries.query({ key, newestFirst: true, ...part }),
      )
    },
  }
}
