/** The connections of a user's sources. */
import type { Clock } from '@strongroom/kit/clock'
import { serverError } from '@strongroom/kit/http/errors'
import { newId } from '@strongroom/kit/ids'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { type Principal, requirePermission } from '../auth/principal.ts'
import type { ConnectionChanges } from '../db/connections.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import { ferryhookError } from '../errors.ts'
import type { Filter } from '../filters/filter.ts'
import type { AuditAction } from '../items/account-trail.ts'
import type { Connection } from '../items/connection.ts'
import { planLimits } from '../plans.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { firstSecret, type SecretList } from '../signing/secret-list.ts'
import { newSigningSecret } from '../signing/webhook-secret.ts'
import { TransformError } from '../transforms/error.ts'
import { checkJavascript } from '../transforms/javascript.ts'
import type { Transform } from '../transforms/transform.ts'
import { again } from './again.ts'
import type { Audit } from './audit-trail.ts'
import { checkDestination } from './check-destination.ts'
import type { ConnectionLimits } from './connection-options.ts'
import type { CustomHeaders, KeptSecrets } from './kept-secrets.ts'
import type { Notices } from './notices.ts'
import { rotatedList } from './source-signing.ts'
import type { SourceBook } from './sources.ts'

/** null removes what is there. */
export interface ConnectionInput {
  name?: string | undefined
  destinationUrl?: string | undefined
  filters?: Filter | null | undefined
  transform?: Transform | null | undefined
  retryConfig?: readonly number[] | null | undefined
  limits?: ConnectionLimits | null | undefined
  headers?: CustomHeaders | null | undefined
}

export type NewConnection = ConnectionInput & { name: string; destinationUrl: string }

export function createConnectionBook(deps: {
  layer: Pick<DataLayer, 'connections'>
  sources: Pick<SourceBook, 'get'>
  kept: KeptSecrets
  safeFetch: Pick<SafeFetch, 'check'>
  sandbox: Sandbox
  clock: Clock
  audit: Audit
  notices: Notices
}) {
  const { sources, kept, safeFetch, sandbox, clock, audit, notices } = deps
  const { connections } = deps.layer

  async function get({ user }: Principal, connectionId: string): Promise<Connection> {
    const connection = await connections.getOwned(connectionId, user.userId)
    if (!connection) throw ferryhookError('connection_not_found')
    return connection
  }

  /** `decide` sees the connection as it is; it is asked again if someone else changes it meanwhile. */
  async function update(
    principal: Principal,
    connectionId: string,
    action: AuditAction,
    decide: (connection: Connection) => Promise<ConnectionChanges> | ConnectionChanges,
  ): Promise<Connection> {
    const by = { userId: principal.user.userId, actor: principal.actor, action }
    const changed = await again('connection_changed', async () => {
      const seen = await get(principal, connectionId)
      const { sourceId, rev } = seen
      const changes = await decide(seen)
      return connections.update(connectionId, changes, { sourceId, rev, by }).catch(orNotFound)
    })
    notices.sourceChanged(changed.sourceId)
    return changed
  }

  /** What is given, as it is stored. */
  async function attributesOf(
    place: Pick<Connection, 'connectionId' | 'userId'>,
    { name, destinationUrl, headers, ...rest }: ConnectionInput,
  ): Promise<ConnectionChanges> {
    if (destinationUrl !== undefined) {
      checkDestination(safeFetch, destinationUrl, 'body.destinationUrl')
    }
    if (rest.transform) await checkTransform(rest.transform, place.userId)
    const isEmpty = headers === null || (headers && Object.keys(headers).length === 0)
    return {
      ...(name !== undefined && { name }),
      ...(destinationUrl !== undefined && { destinationUrl }),
      ...asJson('filters', rest.filters),
      ...asJson('transform', rest.transform),
      ...asJson('retryConfig', rest.retryConfig),
      ...asJson('limits', rest.limits),
      ...(headers !== undefined && {
        customHeaders: isEmpty ? undefined : await kept.sealCustomHeaders(place, headers ?? {}),
      }),
    }
  }

  async function checkTransform(transform: Transform, owner: string): Promise<void> {
    if (transform.type !== 'javascript') return
    await checkJavascript(transform.code, { sandbox, owner }).catch((error: unknown) => {
      if (!(error instanceof TransformError)) throw error
      if (error.isPassing) throw serverError('unavailable', { headers: { 'retry-after': '1' } })
      const details = [{ path: 'body.transform.code', message: error.message }]
      throw ferryhookError('invalid_transform', { details })
    })
  }

  return {
    get,

    async list(principal: Principal, sourceId: string): Promise<Connection[]> {
      await sources.get(principal, sourceId)
      return connections.listBySource(sourceId)
    },

    /** With the secret that its deliveries are signed with. */
    async create(
      principal: Principal,
      sourceId: string,
      input: NewConnection,
    ): Promise<{ connection: Connection; signingSecret: string }> {
      const { userId, plan } = principal.user
      await sources.get(principal, sourceId)
      const connectionId = newId('conn')
      const place = { connectionId, userId }
      const signingSecret = newSigningSecret()
      const { name, destinationUrl } = input
      const given = await attributesOf(place, input)
      const sealed = await kept.sealConnectionSecrets(
        place,
        firstSecret(signingSecret, clock.now()),
      )
      const connection = await connections
        .create(
          { ...given, ...place, sourceId, name, destinationUrl, signingSecret: sealed },
          { withinPlan: true, by: { actor: principal.actor, action: 'connection.created' } },
        )
        .catch((error: unknown) => {
          if (!(error instanceof Refused)) throw error
          if (error.reason === 'not_found') throw ferryhookError('source_not_found')
          if (error.reason !== 'plan_limit') throw error
          const { connectionsPerSource } = planLimits[plan]
          throw ferryhookError('plan_limit', { data: { plan, connectionsPerSource } })
        })
      notices.sourceChanged(sourceId)
      return { connection, signingSecret }
    },

    /** Headers that are never shown again go nowhere else either, unless an administrator says so. */
    change: (
      principal: Principal,
      connectionId: string,
      input: ConnectionInput,
    ): Promise<Connection> =>
      update(principal, connectionId, 'connection.changed', async (seen) => {
        const changes = await attributesOf(seen, input)
        if (redirectsHeaders(seen, input)) requirePermission(principal, 'admin')
        return changes
      }),

    pause: (principal: Principal, connectionId: string): Promise<Connection> =>
      update(principal, connectionId, 'connection.paused', () => ({
        status: 'paused',
        statusReason: undefined,
      })),

    async resume(principal: Principal, connectionId: string): Promise<Connection> {
      const resumed = await update(principal, connectionId, 'connection.resumed', () => ({
        status: 'active',
        statusReason: undefined,
      }))
      notices.workDue()
      return resumed
    },

    async delete(principal: Principal, connectionId: string): Promise<void> {
      const { sourceId } = await get(principal, connectionId)
      const { user, actor } = principal
      const by = { userId: user.userId, actor, action: 'connection.deleted' } as const
      await connections.delete(connectionId, { sourceId, by }).catch(orNotFound)
      notices.sourceChanged(sourceId)
      notices.workDue()
    },

    /** A new secret to sign with; those in force go on signing for the overlap. */
    async rotateSecret(
      principal: Principal,
      connectionId: string,
      { overlapSeconds }: { overlapSeconds: number },
    ): Promise<{ connection: Connection; signingSecret: string }> {
      const signingSecret = newSigningSecret()
      const action = 'connection.secret_rotated'
      const connection = await update(principal, connectionId, action, async (seen) => {
        const list = await kept.connectionSecrets(seen)
        const rotated = rotatedList(list, signingSecret, { now: clock.now(), overlapSeconds })
        return { signingSecret: await kept.sealConnectionSecrets(seen, rotated) }
      })
      return { connection, signingSecret }
    },

    async showSecrets(principal: Principal, connectionId: string): Promise<SecretList> {
      const connection = await get(principal, connectionId)
      const list = await kept.connectionSecrets(connection)
      await audit(principal.user.userId, principal.actor, 'connection.secret_shown', connectionId)
      const now = clock.now() / 1000
      return list.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now)
    },
  }
}

export type ConnectionBook = ReturnType<typeof createConnectionBook>

/** Whether headers that were given for one address would be sent to another: many share a server. */
function redirectsHeaders(
  { customHeaders, destinationUrl: before }: Connection,
  { destinationUrl: after, headers }: ConnectionInput,
): boolean {
  if (customHeaders === undefined || headers !== undefined || after === undefined) return false
  return new URL(before).href !== new URL(after).href
}

function asJson<Name extends string>(
  name: Name,
  value: object | null | undefined,
): { [N in Name]?: string | undefined } {
  if (value === undefined) return {}
  const text = value === null ? undefined : JSON.stringify(value)
  return { [name]: text } as { [N in Name]?: string | undefined }
}

function orNotFound(error: unknown): never {
  const isGone = error instanceof Refused && error.reason === 'not_found'
  throw isGone ? ferryhookError('connection_not_found') : error
}
