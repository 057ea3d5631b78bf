/** Changes by operators with an entry in the audit log. */
import type { AuditActor, AuditedWrite, AuditLog } from '@strongroom/kit/audit-log'
import type { AuditedItem } from '@strongroom/kit/audited-item'
import type { Db } from '@strongroom/kit/db'
import { serverTable } from '@strongroom/kit/server-table'
import { appKey, AppItem } from './item.ts'
import type { AppChange, AppService, NewApp } from './service.ts'

export type AuditedChanges = ReturnType<typeof createAuditedChanges>

export function createAuditedChanges(deps: {
  auditLog: Pick<AuditLog, 'audited'>
  /** `tokenDb` is where the tokens of a removed app are deleted. */
  appsOn(db: Db, tokenDb?: (team: string) => Db): AppService
}) {
  const { auditLog, appsOn } = deps

  const appDb = (
    by: AuditActor,
    verb: string,
    target: string,
    described: Pick<AuditedWrite, 'after' | 'item'> = {},
  ) => auditLog.audited({ ...by, action: `two-key.app.${verb}`, target, ...described })

  const tokenDb = (by: AuditActor, verb: 'set' | 'deleted', app: string, team: string) =>
    auditLog.audited({ ...by, action: `two-key.token.${verb}`, target: `${app}/${team}` })

  return {
    tokenDb,

    addApp(by: AuditActor, app: NewApp): Promise<AppItem> {
      const { clientId, scopes } = app.installation ?? {}
      const installation = {
        ...(clientId !== undefined && { clientId }),
        ...(scopes && { scopes }),
      }
      const after = toAuditedFields({ ...app, ...installation })
      return appsOn(appDb(by, 'added', app.name, { after })).add(app)
    },

    changeApp(by: AuditActor, name: string, change: AppChange): Promise<AppItem> {
      const db = appDb(by, 'changed', name, { item: auditedApp(name, toAuditedChange(change)) })
      return appsOn(db).change(name, change)
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
      const db = appDb(by, 'removed', name, { item: auditedApp(name) })
      await appsOn(db, (team) => tokenDb(by, 'deleted', name, team)).remove(name)
    },
  }
}

/** Without the client secret; its change shows. */
function toAuditedChange({ installation, ...change }: AppChange): object {
  if (!installation) return { ...change, ...(installation === null && { installation }) }
  const { clientSecret, ...shown } = installation
  const secret = clientSecret !== undefined && { isClientSecretChanged: true }
  return { ...change, installation: { ...shown, ...secret } }
}

function auditedApp(name: string, after?: object): AuditedItem {
  return {
    table: serverTable,
    key: appKey(name),
    attributes: ['appId', 'upstream', 'policy', 'clientId', 'scopes'],
    describe: (item) => ({ before: item && toAuditedFields(AppItem.parse(item)), after }),
  }
}

function toAuditedFields(
  app: Pick<AppItem, 'upstream' | 'policy'> & {
    appId?: string | undefined
    clientId?: string
    scopes?: readonly string[]
  },
) {
  const { appId, upstream, policy, clientId, scopes } = app
  const installation = clientId === undefined ? {} : { installation: { clientId, scopes } }
  return { appId: appId ?? null, upstream, policy, ...installation }
}
