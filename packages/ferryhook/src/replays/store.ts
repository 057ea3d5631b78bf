/**
 * Stores replay jobs. A job and its task change in one transaction, so that after a crash any worker
 * can continue the job where it was.
 */
import { epochSeconds } from '@strongroom/platform/clock'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { ConditionFailed, TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transact } from '@strongroom/kit/transact'
import { type Expression, expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import {
  type Replay,
  type ReplayCounts,
  ReplayItem,
  replayKey,
  type ReplayStep,
  type ReplayTask,
  ReplayTaskItem,
  replayTaskKey,
} from './item.ts'
import { eventsTable } from '../tables.ts'
import type { AuditWriter, Audited } from '../accounts/audit/store.ts'
import { updateExpression } from '../storage/update-expression.ts'
import { exists } from '../storage/conditions.ts'
import type { StoreDeps } from '../stores.ts'
import { isUnexpired, isoNow, unlessExpired } from '../storage/time.ts'

export type CreateReplayInput = Pick<
  Replay,
  'userId' | 'sourceId' | 'connectionIds' | 'from' | 'to' | 'perSecond' | 'createdBy'
> &
  Partial<Pick<Replay, 'status' | 'type' | 'allConnections' | 'header' | 'body'>>

/** `done`: the job has finished. */
export type CancelResult = { kind: 'cancelled'; replay: Replay } | { kind: 'not_found' | 'done' }

/** An attribute that is undefined is removed. */
type ReplayChanges = { [Name in keyof Replay]?: Replay[Name] | undefined }

/** After the last change. */
const RETENTION_SECONDS = 30 * 86_400

const zeroCounts: ReplayCounts = {
  examined: 0,
  matched: 0,
  replayed: 0,
  runOpen: 0,
  unverified: 0,
  gone: 0,
}

export function createReplayStore({
  db,
  clock,
  audit,
}: Pick<StoreDeps, 'db' | 'clock'> & { audit: AuditWriter }) {
  const replays = entity(db, eventsTable, ReplayItem)
  const tasks = entity(db, eventsTable, ReplayTaskItem)

  async function get(userId: string, replayId: string): Promise<Replay | null> {
    return unlessExpired(clock, await replays.get(replayKey.of({ userId, replayId }))) ?? null
  }

  function changeParts(replay: Replay, changes: ReplayChanges): [Expression, Expression] {
    const change = updateExpression(eventsTable, ReplayItem, replayKey.of(replay), {
      ...changes,
      updatedAt: isoNow(clock),
      expiresAt: epochSeconds(clock) + RETENTION_SECONDS,
      rev: replay.rev + 1,
    })
    return [change, expr`${replays.attr('rev')} = ${replay.rev}`]
  }

  function taskAt(replay: Pick<Replay, 'userId' | 'replayId'>, dueAt: number): ReplayTask {
    const { userId, replayId } = replay
    return { ...replayTaskKey.of({ dueAt, replayId }), kind: 'replay', dueAt, replayId, userId }
  }

  /** Requires that the task still has the lease that was read. */
  function completePart({ PK, SK, leaseId }: ReplayTask): TransactWriteItem {
    const lease = tasks.attr('leaseId')
    const free = expr`${exists} AND attribute_not_exists(${lease})`
    return tasks.part.delete({ PK, SK }, leaseId === undefined ? free : expr`${lease} = ${leaseId}`)
  }

  return {
    async create(input: CreateReplayInput, { by }: Audited = {}): Promise<Replay> {
      const replayId = newId('rpl')
      const now = isoNow(clock)
      const replay: Replay = {
        ...replayKey.of({ ...input, replayId }),
        ...input,
        replayId,
        state: 'running',
        counts: zeroCounts,
        createdAt: now,
        updatedAt: now,
        rev: 0,
        expiresAt: epochSeconds(clock) + RETENTION_SECONDS,
      }
      await transact(db, [
        replays.part.put(replay),
        tasks.part.put(taskAt(replay, clock.now())),
        ...audit.parts(by, { userId: input.userId, target: replayId }),
      ])
      return replay
    },

    get,

    /** Newest first. */
    async listByUser(userId: string): Promise<Replay[]> {
      const { PK, SK } = replayKey.of({ userId, replayId: '' })
      const { items } = await replays.query({
        key: expr`${replays.attr('PK')} = ${PK} AND begins_with(${replays.attr('SK')}, ${SK})`,
      })
      return items
        .filter((replay) => isUnexpired(clock, replay))
        .toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
    },

    /** The longest due first, including tasks whose lease has expired. */
    async listDue(limit = 20): Promise<ReplayTask[]> {
      const { PK } = replayTaskKey.of({ dueAt: '', replayId: '' })
      const upToNow = String(clock.now() + 1)
      const key = expr`${tasks.attr('PK')} = ${PK} AND ${tasks.attr('SK')} < ${upToNow}`
      return (await tasks.query({ key, limit })).items
    },

    /** Returns the leased task to one caller, and undefined to concurrent ones. */
    async claim(task: ReplayTask, leaseUntil: number): Promise<ReplayTask | undefined> {
      const leased = { ...taskAt(task, leaseUntil), leaseId: newId('lse') }
      try {
        await transact(db, [completePart(task), tasks.part.put(leased)])
        return leased
      } catch (error) {
        if (error instanceof TransactionFailed && error.conditionFailed(0)) return undefined
        throw error
      }
    },

    /** Stores the events of the next step; undefined if the job was changed concurrently. */
    async startStep(replay: Replay, step: ReplayStep): Promise<Replay | undefined> {
      try {
        return await replays.update(replayKey.of(replay), ...changeParts(replay, { step }))
      } catch (error) {
        if (error instanceof ConditionFailed) return undefined
        throw error
      }
    },

    /**
     * Stores the results of a step and completes its task. The next step is due at `nextAt`, unless
     * this was the last one or the job is cancelled. Does nothing if another worker has taken over.
     */
    async finishStep(
      { userId, replayId, step: done }: Replay,
      task: ReplayTask,
      { results, nextAt }: { results: Partial<ReplayCounts>; nextAt: number },
    ): Promise<void> {
      await retryOnConflict(async () => {
        const replay = await get(userId, replayId)
        const step = replay?.step
        if (!replay || !step || step.stepId !== done?.stepId) return
        const isRunning = replay.state === 'running'
        const { examined, unverified, upTo } = step
        const counted = { examined, unverified, matched: step.events.length, ...results }
        const [change, unchanged] = changeParts(replay, {
          counts: addCounts(replay.counts, counted),
          ...(isRunning && step.isLast && { state: 'done' }),
          ...(upTo && { at: upTo }),
          step: undefined,
        })
        const hasNext = isRunning && !step.isLast
        const parts = [
          completePart(task),
          replays.part.update(replayKey.of(replay), change, unchanged),
          ...(hasNext ? [tasks.part.put(taskAt(replay, nextAt))] : []),
        ]
        await transact(db, parts).catch(ignoreLeaseLost)
      })
    },

    /** For a job that is finished, deleted or expired. */
    async completeTask(task: ReplayTask): Promise<void> {
      await transact(db, [completePart(task)]).catch(ignoreLeaseLost)
    },

    async cancel(userId: string, replayId: string, { by }: Audited = {}): Promise<CancelResult> {
      return retryOnConflict(async () => {
        const replay = await get(userId, replayId)
        if (!replay) return { kind: 'not_found' }
        if (replay.state === 'cancelled') return { kind: 'cancelled', replay }
        if (replay.state === 'done') return { kind: 'done' }
        const [change, unchanged] = changeParts(replay, { state: 'cancelled' })
        await transact(db, [
          replays.part.update(replayKey.of(replay), change, unchanged),
          ...audit.parts(by, { userId, target: replayId }),
        ])
        const updatedAt = isoNow(clock)
        const cancelled: Replay = { ...replay, state: 'cancelled', updatedAt, rev: replay.rev + 1 }
        return { kind: 'cancelled', replay: cancelled }
      })
    },
  }
}

/** The first part of a transaction is the task: if its condition fails, another worker has the lease. */
function ignoreLeaseLost(error: unknown): void {
  const isLeaseLost = error instanceof TransactionFailed && error.conditionFailed(0)
  if (!isLeaseLost) throw error
}

export type ReplayStore = ReturnType<typeof createReplayStore>

function addCounts(counts: ReplayCounts, more: Partial<ReplayCounts>): ReplayCounts {
  const sum = { ...counts }
  for (const [name, value] of Object.entries(more)) sum[name as keyof ReplayCounts] += value
  return sum
}
