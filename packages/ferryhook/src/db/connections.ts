import type { TransactWriteItem } from '@strongroom/kit/db'
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { entity, transact } from '@strongroom/kit/entity'
import { all, Expression, expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import type { z } from 'zod'
import {
  type Connection,
  connectionById,
  ConnectionItem,
  connectionKey,
} from '../items/connection.ts'
import { SourceItem, sourceKey } from '../items/source.ts'
import { UserItem, userKey } from '../items/user.ts'
import { planLimits } from '../plans.ts'
import { mainTable } from '../table.ts'
import type { AuditParts, ChangedBy, Logged } from './audit.ts'
import { changeExpression } from './changes.ts'
import type { DataLayerDeps } from './deps.ts'
import { Refused } from './refused.ts'
import type { TaskWriter } from './task-writer.ts'
import { isoNow } from './times.ts'
import { optimistically } from './transaction.ts'

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
  /** For those who sealed something for it before. */
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
/** What is given as undefined is removed. */
export type ConnectionChanges = Partial<z.infer<typeof Changeable>>

/** Who knows the source need not ask the index, which may not know a new connection yet. */
export interface WithinSource {
  sourceId?: string
}

/** With `by` the change is in the audit log of that user. */
export interface LoggedWithinSource extends WithinSource {
  by?: ChangedBy & Pick<Connection, 'userId'>
}

export interface SeenConnection extends LoggedWithinSource {
  /** Only if nobody changed it since; else refused with `connection_changed`. */
  rev?: number
}

export function createConnections({
  db,
  clock,
  tasks,
  audit,
}: Pick<DataLayerDeps, 'db' | 'clock'> & { tasks: TaskWriter; audit: AuditParts }) {
  const connections = entity(db, mainTable, ConnectionItem)
  const sources = entity(db, mainTable, SourceItem)
  const users = entity(db, mainTable, UserItem)
  const absent = expr`attribute_not_exists(${connections.attr('PK')})`
  const exists = expr`attribute_exists(${connections.attr('PK')})`
  const notDeleted = expr`${connections.attr('status')} <> ${'deleted'}`
  const rev = connections.attr('rev')

  async function sourceOf(connectionId: string): Promise<string | undefined> {
    const { GSI3PK, GSI3SK } = connectionById.of({ connectionId })
    const { items } = await connections.query({
      index: 'GSI3',
      key: expr`${connections.attr('GSI3PK')} = ${GSI3PK} AND ${connections.attr('GSI3SK')} = ${GSI3SK}`,
      limit: 1,
    })
    return items[0]?.sourceId
  }

  async function sourcesOf(userId: string): Promise<string[]> {
    const { PK, SK } = sourceKey.of({ userId, sourceId: '' })
    const { items } = await sources.query({
      key: expr`${sources.attr('PK')} = ${PK} AND begins_with(${sources.attr('SK')}, ${SK})`,
    })
    return items.filter(({ status }) => status !== 'deleted').map(({ sourceId }) => sourceId)
  }

  async function keyOf(connectionId: string, within: WithinSource) {
    const sourceId = within.sourceId ?? (await sourceOf(connectionId))
    if (sourceId === undefined) throw new Refused('not_found')
    return connectionKey.of({ sourceId, connectionId })
  }

  async function change(
    connectionId: string,
    changes: ConnectionChanges,
    condition: Expression | undefined,
    within: SeenConnection,
  ): Promise<Connection> {
    const key = await keyOf(connectionId, within)
    const unchanged = within.rev === undefined ? undefined : expr`${rev} = ${within.rev}`
    changeExpression(mainTable, Changeable, key, changes)
    const assign = changeExpression(mainTable, ConnectionItem, key, {
      updatedAt: isoNow(clock),
      // What it was paused for, and how it fared before, is over.
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
    // What waited while it was paused may go now; what waits for a deleted one must not wait for ever.
    if (changes.status === 'active' || changes.status === 'deleted') {
      parts.push(await tasks.wake(connectionId, clock.now()))
    }
    if (within.by) {
      const { userId, ...by } = within.by
      parts.push(...audit.parts(by, { userId, target: connectionId }))
    }
    await transact(db, parts).catch((error: unknown) => {
      const refused = error instanceof TransactionFailed && error.conditionFailed(0)
      if (!refused) throw error
      const before = error.reasons[0]?.item
      const isThere = before !== undefined && before['status'] !== 'deleted'
      throw new Refused(isThere ? 'connection_changed' : 'not_found', { cause: error })
    })
    const changed = await connections.get(key)
    if (!changed) throw new Refused('not_found')
    return changed
  }

  async function listBySource(
    sourceId: string,
    { includeDeleted = false }: { includeDeleted?: boolean } = {},
  ): Promise<Connection[]> {
    const { PK, SK } = connectionKey.of({ sourceId, connectionId: '' })
    const { items } = await connections.query({
      key: expr`${connections.attr('PK')} = ${PK} AND begins_with(${connections.attr('SK')}, ${SK})`,
    })
    return includeDeleted ? items : items.filter(({ status }) => status !== 'deleted')
  }

  /** What was counted holds at the write, as in sources; and the source is not deleted meanwhile. */
  async function putWithinPlan(connection: Connection, logged: TransactWriteItem[]): Promise<void> {
    const [owner, within] = [userKey.of(connection), sourceKey.of(connection)]
    const sourcesRev = sources.attr('connectionsRev')
    await optimistically(async () => {
      const [user, source] = await Promise.all([users.get(owner), sources.get(within)])
      if (!user || !source || source.status === 'deleted') throw new Refused('not_found')
      const { length } = await listBySource(connection.sourceId)
      if (length >= planLimits[user.plan].connectionsPerSource) throw new Refused('plan_limit')
      const unchanged = all(
        expr`${sources.attr('status')} <> ${'deleted'}`,
        source.connectionsRev === undefined
          ? expr`attribute_not_exists(${sourcesRev})`
          : expr`${sourcesRev} = ${source.connectionsRev}`,
      )
      await transact(db, [
        users.part.check(owner, expr`${users.attr('plan')} = ${user.plan}`),
        sources.part.update(within, expr`ADD ${sourcesRev} ${1}`, unchanged),
        connections.part.put(connection, absent),
        ...logged,
      ])
    })
  }

  return {
    /** Refused with `plan_limit` if it has to fit the plan of its owner and does not. */
    async create(
      input: CreateConnectionInput,
      { withinPlan = false, by }: Logged & { withinPlan?: boolean } = {},
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
      const logged = audit.parts(by, { userId: connection.userId, target: connectionId })
      await (withinPlan
        ? putWithinPlan(connection, logged)
        : transact(db, [connections.part.put(connection, absent), ...logged]))
      return connection
    },

    /** As it was last written; also a deleted one, whose tasks must come to an end. */
    async get(connectionId: string, sourceId: string): Promise<Connection | null> {
      return (await connections.get(connectionKey.of({ sourceId, connectionId }))) ?? null
    },

    /** For those who know nothing but the id. The index only says where the connection is. */
    async getById(connectionId: string): Promise<Connection | null> {
      const sourceId = await sourceOf(connectionId)
      if (sourceId === undefined) return null
      const found = await connections.get(connectionKey.of({ sourceId, connectionId }))
      return found && found.status !== 'deleted' ? found : null
    },

    /** For its owner, to whom a new one is there at once: what the index lacks is looked for. */
    async getOwned(connectionId: string, userId: string): Promise<Connection | null> {
      const indexed = await sourceOf(connectionId)
      const places = indexed === undefined ? await sourcesOf(userId) : [indexed]
      const found = await Promise.all(
        places.map((sourceId) => connections.get(connectionKey.of({ sourceId, connectionId }))),
      )
      const owned = found.find((each) => each?.userId === userId)
      return owned && owned.status !== 'deleted' ? owned : null
    },

    listBySource,

    /** Making it active again also wakes what waits for it. */
    update: (
      connectionId: string,
      updates: ConnectionChanges,
      within: SeenConnection = {},
    ): Promise<Connection> => change(connectionId, updates, all(exists, notDeleted), within),

    /** It stays as `deleted`, so that the history can be read. Of many who do so by name, one did. */
    async delete(connectionId: string, within: LoggedWithinSource = {}): Promise<void> {
      const condition = within.by ? all(exists, notDeleted) : exists
      await change(connectionId, { status: 'deleted' }, condition, within)
    },

    /** Of one that was deleted, what is left. */
    async purge(connection: Pick<Connection, 'connectionId' | 'sourceId'>): Promise<void> {
      await connections.delete(connectionKey.of(connection))
    },

    /** Part of a transaction that holds only if the connection is still as it was seen. */
    unchangedPart(seen: Pick<Connection, 'connectionId' | 'sourceId' | 'rev'>): TransactWriteItem {
      return connections.part.check(connectionKey.of(seen), expr`${rev} = ${seen.rev}`)
    },
  }
}

export type Connections = ReturnType<typeof createConnections>
