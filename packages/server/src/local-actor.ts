/** Who runs a command or a server on the store, for the audit log. */
import { userInfo } from 'node:os'
import type { AuditActor } from '@strongroom/kit/audit-log'

export function localActor(): AuditActor {
  return { actor: `local:${userName()}` }
}

/** In a container, the user often has a number and no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}
