import { epochSeconds } from '@strongroom/kit/clock'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { createUlids } from '@strongroom/kit/ulid'
import { type AuditEntry, AuditItem, auditKey } from '../items/account-trail.ts'
import { eventsTable } from '../table.ts'
import type { DataLayerDeps, PaginatedResult } from './deps.ts'
import { livePage, type PageOpts } from './live-page.ts'
import { isoNow } from './times.ts'

const KEPT_SECONDS = 365 * 86_400

type Deed = Pick<AuditEntry, 'userId' | 'actor' | 'action' | 'target'>

/** Who changes something, and what that is called. */
export type ChangedBy = Pick<AuditEntry, 'actor' | 'action'>

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

    /** Part of the transaction that does it: neither is there without the other. */
    addPart: (deed: Deed): TransactWriteItem => entries.part.put(newEntry(deed)),

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
