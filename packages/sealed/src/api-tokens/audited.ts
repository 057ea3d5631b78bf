/** Changes of API tokens with an entry in the audit log. */
import type { AuditActor, AuditLog } from '@strongroom/kit/audit-log'
import type { Db } from '@strongroom/kit/db'
import type { Clock } from '@strongroom/platform/clock'
import { createApiTokens, DEFAULT_PER_HOUR, type NewApiToken } from './service.ts'

export type AuditedApiTokens = ReturnType<typeof createAuditedApiTokens>

export function createAuditedApiTokens(deps: {
  db: Db
  clock: Clock
  auditLog: Pick<AuditLog, 'audited'>
}) {
  const { db, clock, auditLog } = deps

  function tokensAs(by: AuditActor, verb: 'added' | 'revoked', target: string, after?: object) {
    const change = { ...by, action: `sealed.api_token.${verb}`, target, after }
    return createApiTokens({ db: auditLog.audited(change), clock })
  }

  return {
    list: createApiTokens({ db, clock }).list,

    add(by: AuditActor, token: NewApiToken) {
      const { name, perHour = DEFAULT_PER_HOUR, expiresInSeconds = null } = token
      return tokensAs(by, 'added', name, { perHour, expiresInSeconds }).add(token)
    },

    revoke: (by: AuditActor, name: string) => tokensAs(by, 'revoked', name).revoke(name),
  }
}
