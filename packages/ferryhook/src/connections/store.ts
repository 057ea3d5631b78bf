import type { TransactWriteItem } from '@strongroom/kit/db'
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { all, Expression, expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transact } from '@strongroom/kit/transact'
import type { z } from 'zod'
import type { Audited, AuditInfo, AuditWriter } from '../accounts/audit/store.ts'
import { UserItem, userKey } from '../accounts/users/item.ts'
import { planLimits } from '../plans.ts'
import type { TaskQueue } from '../queue/store.ts'
import { SourceItem, sourceKey } from '../sources/item.ts'
import { absent, equalsOrAbsent, exists, indexKey, startsWith } from '../storage/conditions.ts'
import { isoNow } from '../storage/time.ts'
import { updateExpression } from '../storage/update-expression.ts'
import { WriteRejected } from '../storage/write-rejected.ts'
import type { StoreDeps } from '../stores.ts'
import { mainTable } from '../tables.ts'
import type { ConnectionActivityStore } from './activity-store.ts'
import { type Connection, connectionById, ConnectionItem, connectionKey } from './item.ts'

export type CreateConnectionInput = Pick<
  Connection,
  | 'sourceId'
  | 'userId'
  | 'name'
  | 'destinationUrl'
  | 'signingSecret'
  | 'filters'
  | 'transform'
  | 'retryConfig'
  | 'limits'
  | 'customHeaders'
> & {
  /** Set by callers that sealed a secret for the connection before. */
  connectionId?: string
}

const Changeable = ConnectionItem.pick({
  name: true,
  destinationUrl: true,
  signingSecret: true,
  filters: true,
  transform: true,
  retryConfig: true,
  limits: true,
  customHeaders: true,
  status: true,
  statusReason: true,
})
/** An undefined value removes the attribute. */
export type ConnectionChanges = Partial<z.infer<typeof Changeable>>

export interface ConnectionUpdateOptions {
  /** Without it, an index locates the connection, which may not contain a new one yet. */
  sourceId?: string
  /** Records the change in the audit log of this user. */
  by?: AuditInfo & Pick<Connection, 'userId'>
  /** Rejects the write with `connection_changed` if the connection has another revision. */
  rev?: number
}

export type ConnectionStore = ReturnType<typeof createConnectionStore>

export function createConnectionStore({
  db,
  clock,
  tasks,
  audit,
  activity,
}: Pick<StoreDeps, 'db' | 'clock'> & {
  tasks: Pick<TaskQueue, 'wakeUpPart'>
  audit: AuditWriter
  activity: Pick<ConnectionActivityStore, 'purge'>
}) {
  const connections = entity(db, mainTable, ConnectionItem)
  const sources = entity(db, mainTable, SourceItem)
  const users = entity(db, mainTable, UserItem)
  const notDeleted = expr`${connections.attr('status')} <> ${'deleted'}`
  const rev = connections.attr('rev')

  async function sourceOf(connectionId: string): Promise<string | undefined> {
    const key = indexKey(connectionById.of({ connectionId }))
    const { items } = await connections.query({ index: 'GSI3', key, limit: 1 })
    return items[0]?.sourceId
  }

  async function sourcesOf(userId: string): Promise<string[]> {
    const key = startsWith(sourceKey.of({ userId, sourceId: '' }))
    const { items } = await sources.query({ key })
    return items.filter(({ status }) => status !== 'deleted').map(({ sourceId }) => sourceId)
  }

  async function keyOf(connectionId: string, options: Pick<ConnectionUpdateOptions, 'sourceId'>) {
    const sourceId = options.sourceId ?? (await sourceOf(connectionId))
    if (sourceId === undefined) throw new WriteRejected('not_found')
    return connectionKey.of({ sourceId, connectionId })
  }

  async function change(
    connectionId: string,
    changes: ConnectionChanges,
    condition: Expression | undefined,
    options: ConnectionUpdateOptions,
  ): Promise<Connection> {
    const key = await keyOf(connectionId, options)
    const unchanged = options.rev === undefined ? undefined : expr`${rev} = ${options.rev}`
    updateExpression(mainTable, Changeable, key, changes)
    const assign = updateExpression(mainTable, ConnectionItem, key, {
      updatedAt: isoNow(clock),
      // Resuming resets the health.
      ...(changes.status === 'active' && {
        statusReason: undefined,
        failingSince: undefined,
        failedAttempts: undefined,
        warnedAt: undefined,
      }),
      ...changes,
    })
    const update = new Expression(['', ' ADD ', ' ', ''], [assign, rev, 1])
    const parts: TransactWriteItem[] = [
      connections.part.update(key, update, all(condition, unchanged)),
    ]
    // Wakes parked deliveries: a resumed connection delivers them, a deleted one fails them.
    if (changes.status === 'active' || changes.status === 'deleted') {
      parts.push(await tasks.wakeUpPart(connectionId, clock.now()))
    }
    if (options.by) {
      const { userId, ...by } = options.by
      parts.push(...audit.parts(by, { userId, target: connectionId }))
    }
    await transact(db, parts).catch((error: unknown) => {
      if (!(error instanceof TransactionFailed && error.conditionFailed(0))) throw error
      const before = error.reasons[0]?.item
      const isMissing = before === undefined || before['status'] === 'deleted'
      throw new WriteRejected(isMissing ? 'not_found' : 'connection_changed', { cause: error })
    })
    const connection = await connections.get(key)
    if (!connection) throw new WriteRejected('not_found')
    return connection
  }

  async function listBySource(
    sourceId: string,
    { includeDeleted = false }: { includeDeleted?: boolean } = {},
  ): Promise<Connection[]> {
    const key = startsWith(connectionKey.of({ sourceId, connectionId: '' }))
    const { items } = await connections.query({ key })
    return includeDeleted ? items : items.filter(({ status }) => status !== 'deleted')
  }

  /**
   * Every new connection increments `connectionsRev` of the source, so the count is still right when
   * this one is written.
   */
  async function putWithinPlan(
    connection: Connection,
    auditParts: TransactWriteItem[],
  ): Promise<void> {
    const [ownerKey, parentKey] = [userKey.of(connection), sourceKey.of(connection)]
    const connectionsRev = sources.attr('connectionsRev')
    await retryOnConflict(async () => {
      const [user, source] = await Promise.all([users.get(ownerKey), sources.get(parentKey)])
      if (!user || !source || source.status === 'deleted') throw new WriteRejected('not_found')
      const { length } = await listBySource(connection.sourceId)
      if (length >= planLimits[user.plan].connectionsPerSource)
        throw new WriteRejected('plan_limit')
      const unchanged = all(
        expr`${sources.attr('status')} <> ${'deleted'}`,
        equalsOrAbsent(connectionsRev, source.connectionsRev),
      )
      await transact(db, [
        users.part.check(ownerKey, expr`${users.attr('plan')} = ${user.plan}`),
        sources.part.update(parentKey, expr`ADD ${connectionsRev} ${1}`, unchanged),
        connections.part.put(connection, absent),
        ...auditParts,
      ])
    })
  }

  return {
    /** Rejected with `plan_limit` if the plan limit is enforced and reached. */
    async create(
      input: CreateConnectionInput,
      { enforcePlanLimit = false, by }: Audited & { enforcePlanLimit?: boolean } = {},
    ): Promise<Connection> {
      const now = isoNow(clock)
      const { connectionId = newId('conn') } = input
      const { filters, transform, retryConfig, limits, customHeaders } = input
      const connection: Connection = {
        ...connectionKey.of({ sourceId: input.sourceId, connectionId }),
        ...connectionById.of({ connectionId }),
        connectionId,
        sourceId: input.sourceId,
        userId: input.userId,
        name: input.name,
        destinationUrl: input.destinationUrl,
        signingSecret: input.signingSecret,
        ...(filters !== undefined && { filters }),
        ...(transform !== undefined && { transform }),
        ...(retryConfig !== undefined && { retryConfig }),
        ...(limits !== undefined && { limits }),
        ...(customHeaders !== undefined && { customHeaders }),
        status: 'active',
        deliveryCount: 0,
        failureCount: 0,
        createdAt: now,
        updatedAt: now,
        rev: 0,
      }
      const auditParts = audit.parts(by, { userId: connection.userId, target: connectionId })
      await (enforcePlanLimit
        ? putWithinPlan(connection, auditParts)
        : transact(db, [connections.part.put(connection, absent), ...auditParts]))
      return connection
    },

    /** Also returns a deleted connection, whose tasks must still finish. */
    async get(connectionId: string, sourceId: string): Promise<Connection | null> {
      return (await connections.get(connectionKey.of({ sourceId, connectionId }))) ?? null
    },

    /** The index only locates the connection; the item itself is read. */
    async getById(connectionId: string): Promise<Connection | null> {
      const sourceId = await sourceOf(connectionId)
      if (sourceId === undefined) return null
      const found = await connections.get(connectionKey.of({ sourceId, connectionId }))
      return found && found.status !== 'deleted' ? found : null
    },

    /** For the owner. Finds a new connection that the index does not contain yet. */
    async getOwned(
      connectionId: string,
      userId: string,
      { includeDeleted = false }: { includeDeleted?: boolean } = {},
    ): Promise<Connection | null> {
      const indexed = await sourceOf(connectionId)
      const sourceIds = indexed === undefined ? await sourcesOf(userId) : [indexed]
      const found = await Promise.all(
        sourceIds.map((sourceId) => connections.get(connectionKey.of({ sourceId, connectionId }))),
      )
      const owned = found.find((each) => each?.userId === userId)
      return owned && (includeDeleted || owned.status !== 'deleted') ? owned : null
    },

    listBySource,

    /** Activating it also wakes its parked deliveries. */
    update: (
      connectionId: string,
      updates: ConnectionChanges,
      options: ConnectionUpdateOptions = {},
    ): Promise<Connection> => change(connectionId, updates, all(exists, notDeleted), options),

    /**
     * Marks it as deleted, so that the history stays readable. With `by`, rejected with `not_found` if
     * it was deleted before.
     */
    async delete(
      connectionId: string,
      options: Omit<ConnectionUpdateOptions, 'rev'> = {},
    ): Promise<void> {
      const condition = options.by ? all(exists, notDeleted) : exists
      await change(connectionId, { status: 'deleted' }, condition, options)
    },

    /** Deletes the items of a connection that was marked as deleted. */
    async purge(connection: Pick<Connection, 'connectionId' | 'sourceId'>): Promise<void> {
      await activity.purge(connection.connectionId)
      await connections.delete(connectionKey.of(connection))
    },

    /** Part of a transaction that requires that the connection still has this revision. */
    unchangedPart(
      expected: Pick<Connection, 'connectionId' | 'sourceId' | 'rev'>,
    ): TransactWriteItem {
      return connections.part.check(connectionKey.of(expected), expr`${rev} = ${expected.rev}`)
    },
  }
}
