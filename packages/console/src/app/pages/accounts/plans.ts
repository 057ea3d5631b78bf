/** Plans of Ferryhook accounts, and links that work once. */
import type { OperatorUserView } from '@strongroom/ferryhook/accounts/users/view'

export type Plan = OperatorUserView['plan']

export const PLAN_NAMES: Readonly<Record<Plan, string>> = {
  free: 'Free',
  starter: 'Starter',
  pro: 'Pro',
  team: 'Team',
}

/** An invite or a password reset. */
export interface Ticket {
  ticket: string
  url: string
  expiresAt: string
}

/** An argument of a command, quoted where the shell needs it. */
export function quoted(text: string): string {
  return /^[\w.@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
