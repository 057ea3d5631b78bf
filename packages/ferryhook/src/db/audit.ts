import { epochSeconds } from '@strongroom/kit/clock'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { createUlids } from '@strongroom/kit/ulid'
import { type AuditEntry, AuditItem, auditKey } from '../items/account-trail.ts'
import { eventsTable } from '../table.ts'
import type { DataLayerDeps, PaginatedResult } from './deps.ts'
import { livePage, type PageOpts } from './live-page.ts'
import { isoNow } from './times.ts'

const KEPT_SECONDS = 365 * 86_400

export function createAudit({ db, clock, cursors }: DataLayerDeps) {
  const entries = entity(db, eventsTable, AuditItem)
  const newUlid = createUlids()

  return {
    async add(
      input: Pick<AuditEntry, 'userId' | 'actor' | 'action' | 'target'>,
    ): Promise<AuditEntry> {
      const { userId, actor, action, target } = input
      const entryId = newUlid(clock.now())
      const entry: AuditEntry = {
        ...auditKey.of({ userId, entryId }),
        userId,
        entryId,
        actor,
        action,
        ...(target !== undefined && { target }),
        at: isoNow(clock),
        expiresAt: epochSeconds(clock) + KEPT_SECONDS,
      }
      await entries.put(entry)
      return entry
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
