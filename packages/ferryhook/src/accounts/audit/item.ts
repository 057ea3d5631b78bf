/** An entry of the audit log of an account. */
import * as z from 'zod'
import { keyTemplate } from '../../storage/key-template.ts'
import { id, isoTime, seconds } from '../../storage/schemas.ts'

export type AuditAction =
  | `account.${'created' | 'signed_in' | 'changed' | 'password_changed' | 'password_reset' | 'exported' | 'deleted'}`
  | `account.${'plan_changed' | 'password_reset_offered' | 'session_reused' | 'signed_out' | 'email_verified'}`
  | `account.${'credentials_confirmed' | 'session_ended'}`
  | `account.${'second_factor_added' | 'second_factor_removed' | 'second_factor_reset'}`
  | `account.${'second_factor_locked' | 'recovery_code_used' | 'recovery_codes_replaced'}`
  | `alerts.${'changed' | 'secret_rotated' | 'tested'}`
  | `identity.${'linked' | 'unlinked'}`
  | `source.${'created' | 'changed' | 'paused' | 'resumed' | 'deleted'}`
  | `source.${'signing_changed' | 'secret_rotated' | 'tested'}`
  | `connection.${'created' | 'changed' | 'paused' | 'resumed' | 'deleted' | 'tested'}`
  | `connection.${'secret_rotated' | 'secret_shown'}`
  | `api_key.${'created' | 'deleted'}`
  | `event.${'replayed' | 'replayed_unverified'}`
  | `replay.${'started' | 'cancelled'}`
  | `delivery.${'held' | 'released' | 'retried' | 'cancelled'}`

export const auditKey = keyTemplate({ PK: 'USER#{userId}', SK: 'AUDIT#{entryId}' })

/** Without `before` and `after` the value changed but is not shown. */
const AuditChange = z.object({
  name: z.string().min(1).max(100),
  before: z.string().max(200).optional(),
  after: z.string().max(200).optional(),
})
export type AuditChange = z.infer<typeof AuditChange>

export const AuditItem = z.object({
  ...auditKey.fields,
  userId: id('usr'),
  /** A ULID, so that entries sort by time. */
  entryId: z.string().regex(/^[0-9A-Z]{26}$/),
  /** A user, an API key or an operator. */
  actor: z.string().min(1).max(100),
  action: z.string().min(1).max(100),
  target: z.string().min(1).max(200).optional(),
  /** What was replaced, where the action does not say it. */
  changes: z.array(AuditChange).max(20).optional(),
  at: isoTime,
  expiresAt: seconds,
})
export type AuditEntry = z.infer<typeof AuditItem>
