import type { TransactWriteItem } from '@strongroom/kit/db'
import { conditionHeld, TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { all, expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transact } from '@strongroom/kit/transact'
import type { z } from 'zod'
import type { Audited, AuditWriter } from '../accounts/audit/store.ts'
import { UserItem, userKey } from '../accounts/users/item.ts'
import type { ConnectionStore } from '../connections/store.ts'
import { planLimits } from '../plans.ts'
import { absent, equalsOrAbsent, exists, indexKey, startsWith } from '../storage/conditions.ts'
import { isoNow } from '../storage/time.ts'
import { updateExpression } from '../storage/update-expression.ts'
import { WriteRejected } from '../storage/write-rejected.ts'
import type { StoreDeps } from '../stores.ts'
import { mainTable } from '../tables.ts'
import { type Source, sourceById, SourceItem, sourceKey } from './item.ts'

export type CreateSourceInput = Pick<
  Source,
  | 'userId'
  | 'name'
  | 'provider'
  | 'signingSecret'
  | 'signingAlgorithm'
  | 'signingOptions'
  | 'dedup'
  | 'eventType'
  | 'credentialHeaders'
  | 'methods'
> & {
  /** Set by callers that sealed a secret for the source before. */
  sourceId?: string
}

const Changeable = SourceItem.pick({
  name: true,
  provider: true,
  signingSecret: true,
  signingAlgorithm: true,
  signingOptions: true,
  dedup: true,
  eventType: true,
  credentialHeaders: true,
  methods: true,
  status: true,
})
/** An undefined value removes the attribute. */
export type SourceChanges = Partial<z.infer<typeof Changeable>>

const signingAttributes = [
  'provider',
  'signingSecret',
  'signingAlgorithm',
  'signingOptions',
] as const

const namesOf = (updates: SourceChanges) => Object.keys(updates) as (keyof SourceChanges)[]

export type SourceStore = ReturnType<typeof createSourceStore>

export function createSourceStore({
  db,
  clock,
  connections,
  audit,
}: Pick<StoreDeps, 'db' | 'clock'> & {
  audit: AuditWriter
  connections: Pick<ConnectionStore, 'listBySource' | 'delete' | 'purge'>
}) {
  const sources = entity(db, mainTable, SourceItem)
  const users = entity(db, mainTable, UserItem)
  const notDeleted = expr`${exists} AND ${sources.attr('status')} <> ${'deleted'}`

  const unlessDeleted = (source: Source | undefined) =>
    source && source.status !== 'deleted' ? source : null

  /** Rejected with `source_changed` if its verification, or what is updated, is not as expected. */
  async function update(
    sourceId: string,
    userId: string,
    updates: SourceChanges,
    { expected, by }: Audited & { expected?: Source } = {},
  ): Promise<Source> {
    const key = sourceKey.of({ userId, sourceId })
    const change = updateExpression(mainTable, Changeable, key, updates)
    const same = expected
      ? [...new Set([...signingAttributes, ...namesOf(updates)])].map((name) =>
          equalsOrAbsent<unknown>(sources.attr(name), expected[name]),
        )
      : []
    await transact(db, [
      sources.part.update(key, change, all(notDeleted, ...same)),
      ...audit.parts(by, { userId, target: sourceId }),
    ]).catch((error: unknown) => {
      if (!(error instanceof TransactionFailed && error.conditionFailed(0))) throw error
      const before = error.reasons[0]?.item
      const isMissing = before === undefined || before['status'] === 'deleted'
      throw new WriteRejected(isMissing ? 'not_found' : 'source_changed', { cause: error })
    })
    const source = unlessDeleted(await sources.get(key))
    if (!source) throw new WriteRejected('not_found')
    return source
  }

  async function listByUser(
    userId: string,
    { includeDeleted = false }: { includeDeleted?: boolean } = {},
  ): Promise<Source[]> {
    const key = startsWith(sourceKey.of({ userId, sourceId: '' }))
    const { items } = await sources.query({ key })
    return includeDeleted ? items : items.filter(({ status }) => status !== 'deleted')
  }

  /** Every new source increments `sourcesRev`, so the count is still right when this one is written. */
  async function putWithinPlan(source: Source, auditParts: TransactWriteItem[]): Promise<void> {
    const rev = users.attr('sourcesRev')
    await retryOnConflict(async () => {
      const user = await users.get(userKey.of(source))
      if (!user) throw new WriteRejected('not_found')
      const { length } = await listByUser(source.userId)
      if (length >= planLimits[user.plan].sources) throw new WriteRejected('plan_limit')
      const unchanged = all(
        expr`${users.attr('plan')} = ${user.plan}`,
        equalsOrAbsent(rev, user.sourcesRev),
      )
      await transact(db, [
        users.part.update(userKey.of(source), expr`ADD ${rev} ${1}`, unchanged),
        sources.part.put(source, absent),
        ...auditParts,
      ])
    })
  }

  /**
   * Marks the source and its connections as deleted, so that the history stays readable. Returns
   * whether anything was left to do: an earlier deletion may have stopped half-way.
   */
  async function softDelete(sourceId: string, userId: string, { by }: Audited = {}) {
    const key = sourceKey.of({ userId, sourceId })
    const isMarked = await conditionHeld(
      transact(db, [
        sources.part.update(key, expr`SET ${sources.attr('status')} = ${'deleted'}`, notDeleted),
        ...audit.parts(by, { userId, target: sourceId }),
      ]),
    )
    if (!isMarked && !(await sources.get(key))) throw new WriteRejected('not_found')
    const left = await connections.listBySource(sourceId)
    for (const { connectionId } of left) await connections.delete(connectionId, { sourceId })
    return isMarked || left.length > 0
  }

  return {
    /** Rejected with `plan_limit` if the plan limit is enforced and reached. */
    async create(
      input: CreateSourceInput,
      { enforcePlanLimit = false, by }: Audited & { enforcePlanLimit?: boolean } = {},
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
        ...(input.eventType !== undefined && { eventType: input.eventType }),
        ...(input.credentialHeaders !== undefined && {
          credentialHeaders: input.credentialHeaders,
        }),
        ...(input.methods !== undefined && { methods: input.methods }),
        status: 'active',
        eventCount: 0,
        createdAt: isoNow(clock),
      }
      const auditParts = audit.parts(by, { userId: source.userId, target: sourceId })
      await (enforcePlanLimit
        ? putWithinPlan(source, auditParts)
        : transact(db, [sources.part.put(source, absent), ...auditParts]))
      return source
    },

    /** For ingest, which does not know the user. May be slightly stale; `getOwned` is not. */
    async getById(sourceId: string): Promise<Source | null> {
      const key = indexKey(sourceById.of({ sourceId }))
      const { items } = await sources.query({ index: 'GSI3', key, limit: 1 })
      return unlessDeleted(items[0])
    },

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

    /** With `by`, also rejected with `not_found` if it was deleted completely before. */
    async delete(sourceId: string, userId: string, options: Audited = {}): Promise<void> {
      const isDone = await softDelete(sourceId, userId, options)
      if (options.by && !isDone) throw new WriteRejected('not_found')
    },

    /** Deletes the source and its connections; only events remain until they expire. */
    async purge(sourceId: string, userId: string): Promise<void> {
      // First, so that parked deliveries wake up and finish.
      await softDelete(sourceId, userId)
      for (const each of await connections.listBySource(sourceId, { includeDeleted: true })) {
        await connections.purge(each)
      }
      await sources.delete(sourceKey.of({ userId, sourceId }))
    },
  }
}
