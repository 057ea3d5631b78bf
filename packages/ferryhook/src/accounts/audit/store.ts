/**
 * The audit log: who did what. The entry of a change is part of the transaction that makes the change.
 * Entries never contain secrets or changed values.
 */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { createUlids } from '@strongroom/kit/ids'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import { startsWith } from '../../storage/conditions.ts'
import { type PageOpts, readPage } from '../../storage/paging.ts'
import { isoNow } from '../../storage/time.ts'
import type { PaginatedResult, StoreDeps } from '../../stores.ts'
import { eventsTable } from '../../tables.ts'
import { type AuditAction, type AuditEntry, AuditItem, auditKey } from './item.ts'

const RETENTION_SECONDS = 365 * 86_400

interface AuditInput {
  userId: string
  /** As in `Principal`, or `operator:{name}`. */
  actor: string
  action: AuditAction
  target?: string | undefined
}

/** The target is only needed where the changed item does not determine it. */
export type AuditInfo = Omit<AuditInput, 'userId'>

/** Options of a write that is recorded in the audit log if `by` is set. */
export interface Audited {
  by?: AuditInfo | undefined
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

  function newEntry({ userId, actor, action, target }: AuditInput): AuditEntry {
    const entryId = newUlid(clock.now())
    return {
      ...auditKey.of({ userId, entryId }),
      userId,
      entryId,
      actor,
      action,
      ...(target !== undefined && { target }),
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

    /** Newest first. */
    listByUser(userId: string, opts: PageOpts = {}): Promise<PaginatedResult<AuditEntry>> {
      const key = startsWith(auditKey.of({ userId, entryId: '' }))
      return readPage({ clock, cursors }, ['ferryhook.audit', userId], opts, (part) =>
        entries.query({ key, newestFirst: true, ...part }),
      )
    },
  }
}
