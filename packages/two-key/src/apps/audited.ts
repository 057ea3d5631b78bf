/** Changes by operators with an entry in the audit log. */
import type { AuditActor, AuditLog } from '@strongroom/kit/audit-log'
import type { Db } from '@strongroom/kit/db'
import { twoKeyError } from '../errors.ts'
import type { AppItem } from './item.ts'
import type { AppChange, AppService, NewApp } from './service.ts'

export type AuditedChanges = ReturnType<typeof createAuditedChanges>

export function createAuditedChanges(deps: {
  auditLog: Pick<AuditLog, 'audited'>
  apps: Pick<AppService, 'get'>
  /** `tokenDb` is where the tokens of a removed app are deleted. */
  appsOn(db: Db, tokenDb?: (team: string) => Db): AppService
}) {
  const { auditLog, apps, appsOn } = deps

  const appDb = (
    by: AuditActor,
    verb: string,
    target: string,
    fields: { before?: object; after?: object } = {},
  ) => auditLog.audited({ ...by, action: `two-key.app.${verb}`, target, ...fields })

  const tokenDb = (by: AuditActor, verb: 'set' | 'deleted', app: string, team: string) =>
    auditLog.audited({ ...by, action: `two-key.token.${verb}`, target: `${app}/${team}` })

  async function fieldsOf(name: string) {
    const app = await apps.get(name)
    if (!app) throw twoKeyError('app_not_found')
    return toAuditedFields(app)
  }

  return {
    tokenDb,

    addApp(by: AuditActor, app: NewApp): Promise<AppItem> {
      return appsOn(appDb(by, 'added', app.name, { after: toAuditedFields(app) })).add(app)
    },

    async changeApp(by: AuditActor, name: string, change: AppChange): Promise<AppItem> {
      const fields = { before: await fieldsOf(name), after: change }
      return appsOn(appDb(by, 'changed', name, fields)).change(name, change)
    },

    rotateSecret(
      by: AuditActor,
      name: string,
      { signingSecret, overlapSeconds }: { signingSecret: string; overlapSeconds: number },
    ): Promise<AppItem> {
      const db = appDb(by, 'secret_rotated', name, { after: { overlapSeconds } })
      return appsOn(db).rotate(name, signingSecret, overlapSeconds)
    },

    async removeApp(by: AuditActor, name: string): Promise<void> {
      const db = appDb(by, 'removed', name, { before: await fieldsOf(name) })
      await appsOn(db, (team) => tokenDb(by, 'deleted', name, team)).remove(name)
    },
  }
}

function toAuditedFields({
  appId,
  upstream,
  policy,
}: Pick<AppItem, 'upstream' | 'policy'> & { appId?: string | undefined }) {
  return { appId: appId ?? null, upstream, policy }
}
