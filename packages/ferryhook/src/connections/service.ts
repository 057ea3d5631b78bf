/** The connections of a user's sources. */
import { serverError } from '@strongroom/kit/http/errors'
import { newId } from '@strongroom/kit/ids'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import type { Clock } from '@strongroom/platform/clock'
import pLimit from 'p-limit'
import { describeChanges, hidden, origin, asText } from '../accounts/audit/changes.ts'
import type { AuditAction } from '../accounts/audit/item.ts'
import { type Principal, requirePermission } from '../accounts/authentication.ts'
import { ferryhookError, translate } from '../errors.ts'
import type { Filter } from '../filters/filter.ts'
import type { LocalEvents } from '../local-events.ts'
import { checkDestination } from '../outbound/destination-url.ts'
import { planLimits } from '../plans.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { CustomHeaders, SealedSecrets } from '../signing/sealed-secrets.ts'
import { newSecretList, newSigningSecret, type SecretList } from '../signing/secret-list.ts'
import type { SourceService } from '../sources/service.ts'
import { rotateOrThrow } from '../sources/signing.ts'
import { toConflict, WriteRejected } from '../storage/write-rejected.ts'
import type { Stores } from '../stores.ts'
import { isTestUrl } from '../test-requests/destination.ts'
import { checkJavascript } from '../transforms/javascript.ts'
import type { Transform } from '../transforms/transform.ts'
import type { CurrentConnection } from './activity-store.ts'
import type { Connection } from './item.ts'
import type { ConnectionLimits } from './options.ts'
import type { ConnectionChanges } from './store.ts'
import { toConnectionView } from './view.ts'

/** null removes the value. */
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

const MAX_UPDATE_ATTEMPTS = 20

/** What the audit log shows of a change. */
const audited = {
  name: asText,
  destinationUrl: origin,
  filters: asText,
  transform: asText,
  retryConfig: asText,
  limits: asText,
  customHeaders: hidden,
} as const
const ACTIVITY_CONCURRENCY = 10

export type ConnectionService = ReturnType<typeof createConnectionService>

export function createConnectionService(deps: {
  stores: Pick<Stores, 'connections' | 'connectionActivity' | 'audit'>
  sources: Pick<SourceService, 'get'>
  sealedSecrets: SealedSecrets
  safeFetch: Pick<SafeFetch, 'check'>
  sandbox: Sandbox
  clock: Clock
  localEvents: LocalEvents
}) {
  const { sources, sealedSecrets, safeFetch, sandbox, clock, localEvents } = deps
  const { connections, connectionActivity: activity, audit } = deps.stores

  async function get({ user }: Principal, connectionId: string): Promise<Connection> {
    const connection = await connections.getOwned(connectionId, user.userId)
    if (!connection) throw ferryhookError('connection_not_found')
    return connection
  }

  /** `decide` derives the changes from the current connection; it runs again after a conflict. */
  async function update(
    principal: Principal,
    connectionId: string,
    action: AuditAction,
    decide: (connection: Connection) => Promise<ConnectionChanges> | ConnectionChanges,
  ): Promise<CurrentConnection> {
    const updated = await retryOnConflict(
      async () => {
        const connection = await get(principal, connectionId)
        const { sourceId, rev } = connection
        const changes = await decide(connection)
        const described = describeChanges<ConnectionChanges>(connection, changes, audited)
        const { user, actor } = principal
        const by = { userId: user.userId, actor, action, changes: described }
        return connections
          .update(connectionId, changes, { sourceId, rev, by })
          .catch(translate({ not_found: 'connection_not_found' }))
          .catch(toConflict('connection_changed'))
      },
      { maxAttempts: MAX_UPDATE_ATTEMPTS },
    )
    localEvents.sourceChanged(updated.sourceId)
    return activity.current(updated)
  }

  /** Validates the input and returns the attributes to store. */
  async function toAttributes(
    id: Pick<Connection, 'connectionId' | 'userId'>,
    { name, destinationUrl, headers, ...rest }: ConnectionInput,
  ): Promise<ConnectionChanges> {
    if (destinationUrl !== undefined && !isTestUrl(destinationUrl, 'body.destinationUrl')) {
      checkDestination(safeFetch, destinationUrl, 'body.destinationUrl')
    }
    if (rest.transform) await checkTransform(rest.transform, id.userId)
    const isEmpty = headers === null || (headers && Object.keys(headers).length === 0)
    return {
      ...(name !== undefined && { name }),
      ...(destinationUrl !== undefined && { destinationUrl }),
      ...jsonAttribute('filters', rest.filters),
      ...jsonAttribute('transform', rest.transform),
      ...jsonAttribute('retryConfig', rest.retryConfig),
      ...jsonAttribute('limits', rest.limits),
      ...(headers !== undefined && {
        customHeaders: isEmpty
          ? undefined
          : await sealedSecrets.sealCustomHeaders(id, headers ?? {}),
      }),
    }
  }

  async function checkTransform(transform: Transform, owner: string): Promise<void> {
    if (transform.type !== 'javascript') return
    const failure = await checkJavascript(transform.code, { sandbox, owner })
    if (!failure) return
    if (failure.isTransient) throw serverError('unavailable', { headers: { 'retry-after': '1' } })
    const details = [{ path: 'body.transform.code', message: failure.message }]
    throw ferryhookError('invalid_transform', { details })
  }

  return {
    get: async (principal: Principal, connectionId: string): Promise<CurrentConnection> =>
      activity.current(await get(principal, connectionId)),

    async list(principal: Principal, sourceId: string): Promise<CurrentConnection[]> {
      await sources.get(principal, sourceId)
      const all = await connections.listBySource(sourceId)
      return pLimit(ACTIVITY_CONCURRENCY).map(all, activity.current)
    },

    /** Also returns the secret that its deliveries are signed with. */
    async create(
      principal: Principal,
      sourceId: string,
      input: NewConnection,
    ): Promise<{ connection: Connection; signingSecret: string }> {
      const { userId, plan } = principal.user
      await sources.get(principal, sourceId)
      const connectionId = newId('conn')
      const id = { connectionId, userId }
      const signingSecret = newSigningSecret()
      const { name, destinationUrl } = input
      const attributes = await toAttributes(id, input)
      const list = newSecretList(signingSecret, clock.now())
      const sealed = await sealedSecrets.sealConnectionSecrets(id, list)
      const connection = await connections
        .create(
          { ...attributes, ...id, sourceId, name, destinationUrl, signingSecret: sealed },
          {
            enforcePlanLimit: true,
            by: {
              actor: principal.actor,
              action: 'connection.created',
              changes: [{ name: 'name', after: name }],
            },
          },
        )
        .catch(translate({ not_found: 'source_not_found' }))
        .catch((error: unknown) => {
          if (!(error instanceof WriteRejected && error.reason === 'plan_limit')) throw error
          const { connectionsPerSource } = planLimits[plan]
          throw ferryhookError('plan_limit', { data: { plan, connectionsPerSource } })
        })
      localEvents.sourceChanged(sourceId)
      return { connection, signingSecret }
    },

    /**
     * Stored headers may be credentials, so only an admin may send them to another URL. With a `rev`,
     * changes that revision only.
     */
    change: (
      principal: Principal,
      connectionId: string,
      { rev, ...input }: ConnectionInput & { rev?: number | undefined },
    ): Promise<CurrentConnection> =>
      update(principal, connectionId, 'connection.changed', async (current) => {
        if (rev !== undefined && rev !== current.rev) {
          const connection = await toConnectionView(await activity.current(current), sealedSecrets)
          throw ferryhookError('connection_changed', { data: { connection } })
        }
        const changes = await toAttributes(current, input)
        if (redirectsHeaders(current, input)) requirePermission(principal, 'admin')
        return changes
      }),

    pause: (principal: Principal, connectionId: string): Promise<CurrentConnection> =>
      update(principal, connectionId, 'connection.paused', () => ({
        status: 'paused',
        statusReason: undefined,
      })),

    async resume(principal: Principal, connectionId: string): Promise<CurrentConnection> {
      const resumed = await update(principal, connectionId, 'connection.resumed', () => ({
        status: 'active',
        statusReason: undefined,
      }))
      localEvents.workDue()
      return resumed
    },

    async delete(principal: Principal, connectionId: string): Promise<void> {
      const { sourceId } = await get(principal, connectionId)
      const { user, actor } = principal
      const by = { userId: user.userId, actor, action: 'connection.deleted' } as const
      await connections
        .delete(connectionId, { sourceId, by })
        .catch(translate({ not_found: 'connection_not_found' }))
      localEvents.sourceChanged(sourceId)
      localEvents.workDue()
    },

    /** During the overlap, deliveries are signed with the current secrets as well. */
    async rotateSecret(
      principal: Principal,
      connectionId: string,
      { overlapSeconds }: { overlapSeconds: number },
    ): Promise<{ connection: Connection; signingSecret: string }> {
      const signingSecret = newSigningSecret()
      const action = 'connection.secret_rotated'
      const connection = await update(principal, connectionId, action, async (current) => {
        const list = await sealedSecrets.connectionSecrets(current)
        const rotated = rotateOrThrow(list, signingSecret, { now: clock.now(), overlapSeconds })
        return { signingSecret: await sealedSecrets.sealConnectionSecrets(current, rotated) }
      })
      return { connection, signingSecret }
    },

    async showSecrets(principal: Principal, connectionId: string): Promise<SecretList> {
      const connection = await get(principal, connectionId)
      const list = await sealedSecrets.connectionSecrets(connection)
      await audit.add({
        userId: principal.user.userId,
        actor: principal.actor,
        action: 'connection.secret_shown',
        target: connectionId,
      })
      const now = clock.now() / 1000
      return list.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now)
    },
  }
}

/** Whether stored headers would be sent to another URL. The path counts: tenants share servers. */
function redirectsHeaders(
  { customHeaders, destinationUrl: before }: Connection,
  { destinationUrl: after, headers }: ConnectionInput,
): boolean {
  if (customHeaders === undefined || headers !== undefined || after === undefined) return false
  return new URL(before).href !== new URL(after).href
}

function jsonAttribute<Name extends string>(
  name: Name,
  value: object | null | undefined,
): { [N in Name]?: string | undefined } {
  if (value === undefined) return {}
  const text = value === null ? undefined : JSON.stringify(value)
  return { [name]: text } as { [N in Name]?: string | undefined }
}
