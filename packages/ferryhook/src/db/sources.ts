import type { TransactWriteItem } from '@strongroom/kit/db'
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { entity, transact } from '@strongroom/kit/entity'
import { all, type Expression, expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { written } from '@strongroom/kit/written'
import type { z } from 'zod'
import { type Source, sourceById, SourceItem, sourceKey } from '../items/source.ts'
import { UserItem, userKey } from '../items/user.ts'
import { planLimits } from '../plans.ts'
import { mainTable } from '../table.ts'
import type { AuditParts, Logged } from './audit.ts'
import { changeExpression } from './changes.ts'
import type { Connections } from './connections.ts'
import type { DataLayerDeps } from './deps.ts'
import { Refused } from './refused.ts'
import { isoNow } from './times.ts'
import { optimistically } from './transaction.ts'

export type CreateSourceInput = Pick<
  Source,
  'userId' | 'name' | 'provider' | 'signingSecret' | 'signingAlgorithm' | 'signingOptions' | 'dedup'
> & {
  /** For those who sealed something for it before. */
  sourceId?: string
}

const Changeable = SourceItem.pick({
  name: true,
  provider: true,
  signingSecret: true,
  signingAlgorithm: true,
  signingOptions: true,
  dedup: true,
  status: true,
})
/** What is given as undefined is removed. */
export type SourceChanges = Partial<z.infer<typeof Changeable>>

const signing = ['provider', 'signingSecret', 'signingAlgorithm', 'signingOptions'] as const

export function createSources({
  db,
  clock,
  connections,
  audit,
}: Pick<DataLayerDeps, 'db' | 'clock'> & {
  audit: AuditParts
  connections: Pick<Connections, 'listBySource' | 'delete' | 'purge'>
}) {
  const sources = entity(db, mainTable, SourceItem)
  const users = entity(db, mainTable, UserItem)
  const absent = expr`attribute_not_exists(${sources.attr('PK')})`
  const notDeleted = expr`attribute_exists(${sources.attr('PK')}) AND ${sources.attr('status')} <> ${'deleted'}`

  const unlessDeleted = (source: Source | undefined) =>
    source && source.status !== 'deleted' ? source : null

  /** With `seen`, only if it is signed as it was then; else refused with `source_changed`. */
  async function update(
    sourceId: string,
    userId: string,
    updates: SourceChanges,
    { seen, by }: Logged & { seen?: Pick<Source, (typeof signing)[number]> } = {},
  ): Promise<Source> {
    const key = sourceKey.of({ userId, sourceId })
    const change = changeExpression(mainTable, Changeable, key, updates)
    const same = seen ? signing.map((name) => holds(name, seen[name])) : []
    await transact(db, [
      sources.part.update(key, change, all(notDeleted, ...same)),
      ...audit.parts(by, { userId, target: sourceId }),
    ]).catch((error: unknown) => {
      if (!(error instanceof TransactionFailed && error.conditionFailed(0))) throw error
      const before = error.reasons[0]?.item
      const isThere = before !== undefined && before['status'] !== 'deleted'
      throw new Refused(isThere ? 'source_changed' : 'not_found', { cause: error })
    })
    const changed = unlessDeleted(await sources.get(key))
    if (!changed) throw new Refused('not_found')
    return changed
  }

  function holds(name: (typeof signing)[number], value: string | undefined): Expression {
    const attribute = sources.attr(name)
    if (value === undefined) return expr`attribute_not_exists(${attribute})`
    return expr`${attribute} = ${value}`
  }

  async function listByUser(
    userId: string,
    { includeDeleted = false }: { includeDeleted?: boolean } = {},
  ): Promise<Source[]> {
    const { PK, SK } = sourceKey.of({ userId, sourceId: '' })
    const { items } = await sources.query({
      key: expr`${sources.attr('PK')} = ${PK} AND begins_with(${sources.attr('SK')}, ${SK})`,
    })
    return includeDeleted ? items : items.filter(({ status }) => status !== 'deleted')
  }

  /** What was counted holds at the write: every other source made meanwhile raises `sourcesRev`. */
  async function putWithinPlan(source: Source, logged: TransactWriteItem[]): Promise<void> {
    const rev = users.attr('sourcesRev')
    await optimistically(async () => {
      const user = await users.get(userKey.of(source))
      if (!user) throw new Refused('not_found')
      const { length } = await listByUser(source.userId)
      if (length >= planLimits[user.plan].sources) throw new Refused('plan_limit')
      const unchanged = all(
        expr`${users.attr('plan')} = ${user.plan}`,
        user.sourcesRev === undefined
          ? expr`attribute_not_exists(${rev})`
          : expr`${rev} = ${user.sourcesRev}`,
      )
      await transact(db, [
        users.part.update(userKey.of(source), expr`ADD ${rev} ${1}`, unchanged),
        sources.part.put(source, absent),
        ...logged,
      ])
    })
  }

  /**
   * The source and its connections stay as `deleted`, so that the history can be read. Tells whether
   * anything was left to do: of one deleted before, the first time may have ended half-way.
   */
  async function softDelete(sourceId: string, userId: string, { by }: Logged = {}) {
    const key = sourceKey.of({ userId, sourceId })
    const isMarked = await written(
      transact(db, [
        sources.part.update(key, expr`SET ${sources.attr('status')} = ${'deleted'}`, notDeleted),
        ...audit.parts(by, { userId, target: sourceId }),
      ]),
    )
    if (!isMarked && !(await sources.get(key))) throw new Refused('not_found')
    const left = await connections.listBySource(sourceId)
    for (const { connectionId } of left) await connections.delete(connectionId, { sourceId })
    return isMarked || left.length > 0
  }

  return {
    /** Refused with `plan_limit` if it has to fit the plan of its owner and does not. */
    async create(
      input: CreateSourceInput,
      { withinPlan = false, by }: Logged & { withinPlan?: boolean } = {},
    ): Promise<Source> {
      const { sourceId = newId('src') } = input
      const source: Source = {
        ...sourceKey.of({ userId: input.userId, sourceId }),
        ...sourceById.of({ sourceId }),
        sourceId,
        userId: input.userId,
        name: input.name,
        provider: input.provider,
        ...(input.signingSecret !== undefined && { signingSecret: input.signingSecret }),
        ...(input.signingAlgorithm !== undefined && { signingAlgorithm: input.signingAlgorithm }),
        ...(input.signingOptions !== undefined && { signingOptions: input.signingOptions }),
        ...(input.dedup !== undefined && { dedup: input.dedup }),
        status: 'active',
        eventCount: 0,
        createdAt: isoNow(clock),
      }
      const logged = audit.parts(by, { userId: source.userId, target: sourceId })
      await (withinPlan
        ? putWithinPlan(source, logged)
        : transact(db, [sources.part.put(source, absent), ...logged]))
      return source
    },

    /** For ingest, which does not know the user. May be a moment behind; its owner reads `getOwned`. */
    async getById(sourceId: string): Promise<Source | null> {
      const { GSI3PK, GSI3SK } = sourceById.of({ sourceId })
      const { items } = await sources.query({
        index: 'GSI3',
        key: expr`${sources.attr('GSI3PK')} = ${GSI3PK} AND ${sources.attr('GSI3SK')} = ${GSI3SK}`,
        limit: 1,
      })
      return unlessDeleted(items[0])
    },

    /** As it was last written. */
    async getOwned(
      sourceId: string,
      userId: string,
      { includeDeleted = false }: { includeDeleted?: boolean } = {},
    ): Promise<Source | null> {
      const source = await sources.get(sourceKey.of({ userId, sourceId }))
      return includeDeleted ? (source ?? null) : unlessDeleted(source)
    },

    listByUser,
    update,

    /** Who does it by name is refused with `not_found` also if all of it was deleted before. */
    async delete(sourceId: string, userId: string, logged: Logged = {}): Promise<void> {
      const isDone = await softDelete(sourceId, userId, logged)
      if (logged.by && !isDone) throw new Refused('not_found')
    },

    /** Nothing stays of it and its connections but events, until they expire. */
    async purge(sourceId: string, userId: string): Promise<void> {
      // First, so that deliveries that wait are woken and come to their end.
      await softDelete(sourceId, userId)
      for (const each of await connections.listBySource(sourceId, { includeDeleted: true })) {
        await connections.purge(each)
      }
      await sources.delete(sourceKey.of({ userId, sourceId }))
    },
  }
}

export type Sources = ReturnType<typeof createSources>
