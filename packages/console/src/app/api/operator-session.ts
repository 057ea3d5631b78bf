/** The session of an operator: a cookie that scripts cannot read, exchanged for the operator's token. */
import { signal } from '@preact/signals'
import type { SelfView } from '@strongroom/server/sessions/view'

export type OperatorSession = SelfView

/** The signed-in operator; undefined if nobody is signed in. */
export const operator = signal<OperatorSession | undefined>(undefined)

export async function loadOperatorSession(): Promise<void> {
  const response = await fetch('/server/v1/session', { cache: 'no-store' }).catch(() => undefined)
  operator.value = response?.ok ? ((await response.json()) as OperatorSession) : undefined
}

const ROLES = ['viewer', 'editor', 'admin'] as const

/** Why the operator may not do this, as a sentence; undefined if it may. */
export function missingRole(role: OperatorSession['role'], service: string): string | undefined {
  const held = operator.value
  if (!held) return 'Sign in as an operator'
  if (held.services && !held.services.includes(service))
    return `This operator has no access to ${service}. An admin can change that.`
  if (ROLES.indexOf(held.role) >= ROLES.indexOf(role)) return undefined
  return `This requires the role ${role}; yours is ${held.role}. An admin can change that.`
}
