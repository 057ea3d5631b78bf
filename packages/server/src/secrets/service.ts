/** Server secrets for operators: names and versions, never values. */
import type { Clock } from '@strongroom/platform/clock'
import type { AuditActor, AuditLog } from '@strongroom/kit/audit-log'
import type { Db } from '@strongroom/kit/db'
import type { KmsKey } from '@strongroom/kit/kms'
import { createServerSecrets } from '@strongroom/kit/server-secrets'

export type SecretService = ReturnType<typeof createSecretService>

export function createSecretService(deps: {
  db: Db
  key: KmsKey
  clock: Clock
  auditLog: AuditLog
}) {
  const { key, clock, auditLog } = deps
  return {
    list: () => createServerSecrets(deps).list(),

    rotate(by: AuditActor, name: string, overlapSeconds: number) {
      const change = {
        ...by,
        action: 'server.secret.rotated',
        target: name,
        after: { overlapSeconds },
      }
      const db = auditLog.audited(change)
      return createServerSecrets({ db, key, clock }).rotate(name, { overlapSeconds })
    },
  }
}
