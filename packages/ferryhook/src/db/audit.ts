import { epochSeconds } from '@strongroom/kit/clock'
import type { Item } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { createUlids } from '@strongroom/kit/ulid'
import { type AuditEntry, AuditItem, auditKey } from '../items/account-trail.ts'
import { eventsTable } from '../table.ts'
import type { DataLayerDeps, PaginatedResult } from './deps.ts'
import { isLive, isoNow } from './times.ts'

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
    async listByUser(
      userId: string,
      { limit = 50, cursor }: { limit?: number; cursor?: string | undefined } = {},
    ): Promise<PaginatedResult<AuditEntry>> {
      const scope = ['ferryhook.audit', userId] as const
      const { PK, SK } = auditKey.of({ userId, entryId: '' })
      const found: AuditEntry[] = []
      let after: Item | undefined = cursor ? cursors.open(scope, cursor) : undefined
      do {
        const page = await entries.query({
          key: expr`${entries.attr('PK')} = ${PK} AND begins_with(${entries.attr('SK')}, ${SK})`,
          newestFirst: true,
          limit: limit - found.length,
          after,
        })
        found.push(...page.items.filter((entry) => isLive(clock, entry)))
        after = page.next
      } while (after && found.length < limit)
      return { items: found, cursor: after ? cursors.seal(scope, after) : null }
    },
  }
}
