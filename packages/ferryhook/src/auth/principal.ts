/** Who is asking, and what they may. */
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
export function includes(held: Permission, needed: Permission): boolean {
  return permissions.indexOf(held) >= permissions.indexOf(needed)
}
