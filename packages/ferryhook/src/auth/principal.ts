/** Who is asking, and what they may. */
import { ferryhookError } from '../errors.ts'
import type { User } from '../items/user.ts'

export const permissions = ['read', 'write', 'admin'] as const
export type Permission = (typeof permissions)[number]

export interface Principal {
  user: User
  permission: Permission
  /** For the audit log: `user:usr_…` or `key:key_…`. */
  actor: string
  /** Of a signed-in user; an API key has none. */
  sessionId: string | undefined
  /** Undefined for a signed-in user. */
  keyId: string | undefined
}

/** Each permission includes those before it. */
function includes(held: Permission, needed: Permission): boolean {
  return permissions.indexOf(held) >= permissions.indexOf(needed)
}

/** Throws `permission_required` with what is needed. */
export function requirePermission(held: Pick<Principal, 'permission'>, needed: Permission): void {
  if (includes(held.permission, needed)) return
  throw ferryhookError('permission_required', { data: { permission: needed } })
}
