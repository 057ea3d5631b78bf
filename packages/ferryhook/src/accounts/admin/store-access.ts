/** The administration of users on a store without a server, for commands. */
import { randomBytes } from 'node:crypto'
import type { AuditLog } from '@strongroom/kit/audit-log'
import { createCursors } from '@strongroom/kit/cursor'
import type { Db } from '@strongroom/kit/db'
import type { Log } from '@strongroom/kit/log'
import type { Clock } from '@strongroom/platform/clock'
import type { LocalEvents } from '../../local-events.ts'
import { openMailer } from '../../mail/mailer.ts'
import type { FerryhookSettings } from '../../settings.ts'
import { createStores } from '../../stores.ts'
import { createFigures, type Figures } from '../../usage/figures.ts'
import { type AdminService, createAdminService } from './service.ts'

/** Running servers find out from the store. */
const nobodyListens: LocalEvents = {
  sourceChanged: () => {},
  userChanged: () => {},
  workDue: () => {},
}

export async function openAdminOnStore(deps: {
  db: Db
  clock: Clock
  config: FerryhookSettings
  auditLog: AuditLog
  log: Log
}): Promise<{ admin: AdminService; figures: Pick<Figures, 'user'>; close: () => Promise<void> }> {
  const { auditLog } = deps
  // Cursors stay within this process.
  const cursors = createCursors(randomBytes(32))
  const mailer = await openMailer(deps.config)
  const stores = createStores({ ...deps, cursors })
  const admin = createAdminService({
    ...deps,
    stores,
    auditedStores: (change) => createStores({ ...deps, cursors, db: auditLog.audited(change) }),
    localEvents: nobodyListens,
    mailer,
  })
  return {
    admin,
    figures: createFigures({ stores, clock: deps.clock }),
    async close() {
      await admin.settled()
      mailer?.close()
    },
  }
}
