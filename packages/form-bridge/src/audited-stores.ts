/** Stores whose writes are recorded in the audit log as changes by an operator. */
import type { AuditActor, AuditedChange, AuditLog } from '@strongroom/kit/audit-log'
import type { Db } from '@strongroom/kit/db'
import type { Clock } from '@strongroom/platform/clock'
import { createStores, type Stores } from './stores.ts'

type Change = Pick<AuditedChange, 'target' | 'before' | 'after'> & {
  /** `site.suspended` */
  action: string
}

export type AuditedStores = (by: AuditActor, change: Change) => Stores & { db: Db }

export function createAuditedStores(deps: { auditLog: AuditLog; clock: Clock }): AuditedStores {
  const { auditLog, clock } = deps
  return (by, { action, ...change }) => {
    const entry = { ...by, ...change, action: `form-bridge.${action}` }
    const db = auditLog.audited(entry)
    return { ...createStores({ db, clock }), db }
  }
}
