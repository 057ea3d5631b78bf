/** Whether a token is what an operator says it is, before it is kept. */
import type { SlackApi } from '../existence/slack-api.ts'
import { entityMethods } from '../existence/entities.ts'
import { classOf } from '../existence/slack-errors.ts'

export type TokenCheck =
  | { ok: true; missingScopes: readonly string[] }
  | { ok: false; problem: 'rejected' | 'other_team' | 'slack_unavailable' }

/** What key two asks with; without one of these it fails for the conversations that need it. */
const NEEDED = ['team:read', 'users:read', 'channels:read', 'groups:read', 'im:read', 'mpim:read']
const TIMEOUT_MS = 10_000

/** A team is a workspace, or an organisation that the app is installed in as a whole. */
export async function checkToken(api: SlackApi, token: string, team: string): Promise<TokenCheck> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const reply = await api.call('auth.test', {}, { token, signal })
  if (reply.kind === 'error' && classOf(reply.error) === 'credential')
    return { ok: false, problem: 'rejected' }
  if (reply.kind !== 'ok') return { ok: false, problem: 'slack_unavailable' }
  const policy = { deletedUser: 'deny', archivedChannel: 'allow' } as const
  const facts = entityMethods.binding.factsOf(reply.body, policy)
  const isOwn = facts?.team === team || (facts?.isOrgWide === true && facts.enterprise === team)
  if (!isOwn) return { ok: false, problem: 'other_team' }
  return { ok: true, missingScopes: NEEDED.filter((scope) => !reply.scopes.includes(scope)) }
}
