import { epochSeconds } from '@strongroom/kit/clock'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { createUlids } from '@strongroom/kit/ulid'
import { type AuditAction, type AuditEntry, AuditItem, auditKey } from '../items/account-trail.ts'
import { eventsTable } from '../table.ts'
import type { DataLayerDeps, PaginatedResult } from './deps.ts'
import { livePage, type PageOpts } from './live-page.ts'
import { isoNow } from './times.ts'

const KEPT_SECONDS = 365 * 86_400

interface Deed {
  userId: string
  /** As in `Principal`, or `operator:{name}`. */
  actor: string
  action: AuditAction
  target?: string | undefined
}

/** Who changes something, what that is called, and to what, where the change itself does not say. */
export type ChangedBy = Omit<Deed, 'userId'>

/** With it the change is in the audit log. */
export interface Logged {
  by?: ChangedBy | undefined
}

export function createAudit({ db, clock, cursors }: DataLayerDeps) {
  const entries = entity(db, eventsTable, AuditItem)
  const newUlid = createUlids()

  function newEntry({ userId, actor, action, target }: Deed): AuditEntry {
    const entryId = newUlid(clock.now())
    return {
      ...auditKey.of({ userId, entryId }),
      userId,
      entryId,
      actor,
      action,
      ...(target !== undefined && { target }),
      at: isoNow(clock),
      expiresAt: epochSeconds(clock) + KEPT_SECONDS,
    }
  }

  return {
    async add(deed: Deed): Promise<AuditEntry> {
      const entry = newEntry(deed)
      await entries.put(entry)
      return entry
    },

    /**
     * The part of a transaction that says who does it, if somebody is named: neither is there without
     * the other. It has no condition; put last, it leaves the others their places.
     */
    parts(by: ChangedBy | undefined, of: Pick<Deed, 'userId' | 'target'>): TransactWriteItem[] {
      return by ? [entries.part.put(newEntry({ ...by, ...of }))] : []
    },

    /** Newest first. */
    listByUser(userId: string, opts: PageOpts = {}): Promise<PaginatedResult<AuditEntry>> {
      const { PK, SK } = auditKey.of({ userId, entryId: '' })
      return livePage({ clock, cursors }, ['ferryhook.audit', userId], opts, (part) =>
        entries.query({
          key: expr`${entries.attr('PK')} = ${PK} AND begins_with(${entries.attr('SK')}, ${SK})`,
          newestFirst: true,
          ...part,
        }),
      )
    },
  }
}

export type Audit = ReturnType<typeof createAudit>

/** What those need of it who change something. */
export type AuditParts = Pick<Audit, 'parts'>
