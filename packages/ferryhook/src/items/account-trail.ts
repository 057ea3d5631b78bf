/** What an account leaves behind for a while: sessions and the audit log. */
import * as z from 'zod'
import { keyTemplate } from './key-template.ts'
import { id, isoTime, milliseconds, seconds } from './values.ts'

const tokenHash = z.string().regex(/^[0-9a-f]{64}$/)

export const refreshTokenKey = keyTemplate({ PK: 'USER#{userId}', SK: 'RTK#{familyId}' })

/** A family of refresh tokens: one session of a user, each token of which replaces the one before. */
export const RefreshTokenItem = z.object({
  ...refreshTokenKey.fields,
  userId: id('usr'),
  familyId: id('rtk'),
  /** Proves which tokens were issued for the session; to sign in takes the newest of them. */
  familyKey: z.string().regex(/^[\w-]{43}$/),
  tokenHash,
  /** The token before, which a second tab may still send for a moment. */
  previousHash: tokenHash.optional(),
  /** Of the password that the user has: another one ends the session. Older sessions lack it. */
  passwordMark: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  rotatedAt: milliseconds,
  createdAt: isoTime,
  expiresAt: seconds,
})
export type RefreshToken = z.infer<typeof RefreshTokenItem>

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

export const auditKey = keyTemplate({ PK: 'USER#{userId}', SK: 'AUDIT#{entryId}' })

export const AuditItem = z.object({
  ...auditKey.fields,
  userId: id('usr'),
  /** A ULID, so that entries sort by time. */
  entryId: z.string().regex(/^[0-9A-Z]{26}$/),
  /** Who did it: a user, a key or an operator. */
  actor: z.string().min(1).max(100),
  action: z.string().min(1).max(100),
  target: z.string().min(1).max(200).optional(),
  at: isoTime,
  expiresAt: seconds,
})
export type AuditEntry = z.infer<typeof AuditItem>
