/** Who changed what. Never a secret, and of a change only that it was made. */
import type { DataLayer } from '../db/data-layer.ts'

export type AuditAction =
  | `account.${'created' | 'signed_in' | 'changed' | 'password_changed' | 'password_reset' | 'exported' | 'deleted'}`
  | `account.${'plan_changed' | 'password_reset_offered' | 'session_reused' | 'signed_out'}`
  | `alerts.${'changed' | 'secret_rotated' | 'tested'}`
  | `identity.${'linked' | 'unlinked'}`
  | `source.${'created' | 'changed' | 'paused' | 'resumed' | 'deleted'}`
  | `source.${'signing_changed' | 'secret_rotated'}`
  | `connection.${'created' | 'changed' | 'paused' | 'resumed' | 'deleted' | 'tested'}`
  | `connection.${'secret_rotated' | 'secret_shown'}`
  | `api_key.${'created' | 'deleted'}`
  | `event.${'replayed' | 'replayed_unverified'}`
  | `replay.${'started' | 'cancelled'}`
  | `delivery.${'held' | 'released' | 'retried' | 'cancelled'}`

/** `actor` as in `Principal`, or `operator:{name}`. */
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
