/**
 * Who did what, where nothing is written but that: what was shown, or sent. A change has its entry in
 * the transaction that makes it. Never a secret, and of a change only that it was made.
 */
import type { DataLayer } from '../db/data-layer.ts'
import type { AuditAction } from '../items/account-trail.ts'

/** `actor` as in `Principal`. */
export type Audit = (
  userId: string,
  actor: string,
  action: AuditAction,
  target?: string,
) => Promise<void>

export function createAuditTrail({ audit }: Pick<DataLayer, 'audit'>): Audit {
  return async (userId, actor, action, target) => {
    await audit.add({ userId, actor, action, target })
  }
}
