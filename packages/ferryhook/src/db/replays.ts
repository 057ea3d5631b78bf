/**
 * Replays of many events. A replay and its task change together, so that a crash at any moment leaves
 * it where it was, and any worker goes on with it.
 */
import { epochSeconds } from '@strongroom/kit/clock'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { ConditionFailed, TransactionFailed } from '@strongroom/kit/db-errors'
import { entity, transact } from '@strongroom/kit/entity'
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
} from '../items/replay.ts'
import { eventsTable } from '../table.ts'
import type { AuditParts, Logged } from './audit.ts'
import { changeExpression } from './changes.ts'
import type { DataLayerDeps } from './deps.ts'
import { Refused } from './refused.ts'
import { isLive, isoNow, live } from './times.ts'
import { optimistically } from './transaction.ts'

export type CreateReplayInput = Pick<
  Replay,
  'userId' | 'sourceId' | 'connectionIds' | 'from' | 'to' | 'perSecond' | 'createdBy'
> &
  Partial<Pick<Replay, 'status' | 'header' | 'body'>>

/** What is given as undefined is removed. */
type ReplayChanges = { [Name in keyof Replay]?: Replay[Name] | undefined }

/** Since it was last changed. */
const KEPT_SECONDS = 30 * 86_400

const nothing: ReplayCounts = {
  examined: 0,
  matched: 0,
  replayed: 0,
  runOpen: 0,
  unverified: 0,
  gone: 0,
}

export function createReplays({
  db,
  clock,
  audit,
}: Pick<DataLayerDeps, 'db' | 'clock'> & { audit: AuditParts }) {
  const replays = entity(db, eventsTable, ReplayItem)
  const tasks = entity(db, eventsTable, ReplayTaskItem)

  async function get(userId: string, replayId: string): Promise<Replay | null> {
    return live(clock, await replays.get(replayKey.of({ userId, replayId }))) ?? null
  }

  function changeParts(replay: Replay, changes: ReplayChanges): [Expression, Expression] {
    const change = changeExpression(eventsTable, ReplayItem, replayKey.of(replay), {
      ...changes,
      updatedAt: isoNow(clock),
      expiresAt: epochSeconds(clock) + KEPT_SECONDS,
      rev: replay.rev + 1,
    })
    return [change, expr`${replays.attr('rev')} = ${replay.rev}`]
  }

  function taskAt(replay: Pick<Replay, 'userId' | 'replayId'>, dueAt: number): ReplayTask {
    const { userId, replayId } = replay
    return { ...replayTaskKey.of({ dueAt, replayId }), kind: 'replay', dueAt, replayId, userId }
  }

  /** Holds only while the task is as it is known. */
  function endPart({ PK, SK, leaseId }: ReplayTask): TransactWriteItem {
    const lease = tasks.attr('leaseId')
    const free = expr`attribute_exists(${tasks.attr('PK')}) AND attribute_not_exists(${lease})`
    return tasks.part.delete({ PK, SK }, leaseId === undefined ? free : expr`${lease} = ${leaseId}`)
  }

  return {
    async create(input: CreateReplayInput, { by }: Logged = {}): Promise<Replay> {
      const replayId = newId('rpl')
      const now = isoNow(clock)
      const replay: Replay = {
        ...replayKey.of({ ...input, replayId }),
        ...input,
        replayId,
        state: 'running',
        counts: nothing,
        createdAt: now,
        updatedAt: now,
        rev: 0,
        expiresAt: epochSeconds(clock) + KEPT_SECONDS,
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
        .filter((replay) => isLive(clock, replay))
        .toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
    },

    /** The longest due first. Those whose lease has ended are among them. */
    async listDue(limit = 20): Promise<ReplayTask[]> {
      const { PK } = replayTaskKey.of({ dueAt: '', replayId: '' })
      const upToNow = String(clock.now() + 1)
      const key = expr`${tasks.attr('PK')} = ${PK} AND ${tasks.attr('SK')} < ${upToNow}`
      return (await tasks.query({ key, limit })).items
    },

    /** Of all who try, one gets the task until the lease ends; the others get undefined. */
    async claim(task: ReplayTask, leaseUntil: number): Promise<ReplayTask | undefined> {
      const leased = { ...taskAt(task, leaseUntil), leaseId: newId('lse') }
      try {
        await transact(db, [endPart(task), tasks.part.put(leased)])
        return leased
      } catch (error) {
        if (error instanceof TransactionFailed && error.conditionFailed(0)) return undefined
        throw error
      }
    },

    /** Writes down what is replayed next; undefined if somebody else changed the replay. */
    async begin(replay: Replay, step: ReplayStep): Promise<Replay | undefined> {
      try {
        return await replays.update(replayKey.of(replay), ...changeParts(replay, { step }))
      } catch (error) {
        if (error instanceof ConditionFailed) return undefined
        throw error
      }
    },

    /**
     * Ends a step with what came of it, and its task; the next is due at `nextAt`, unless it was the
     * last or the replay is cancelled. Nothing happens if another worker has taken over.
     */
    async advance(
      { userId, replayId, step: done }: Replay,
      task: ReplayTask,
      { results, nextAt }: { results: Partial<ReplayCounts>; nextAt: number },
    ): Promise<void> {
      await optimistically(
        async () => {
          const replay = await get(userId, replayId)
          const step = replay?.step
          if (!replay || !step || step.stepId !== done?.stepId) return
          const isRunning = replay.state === 'running'
          const { examined, unverified, upTo } = step
          const counted = { examined, unverified, matched: step.events.length, ...results }
          const [change, unchanged] = changeParts(replay, {
            counts: sumOf(replay.counts, counted),
            ...(isRunning && step.isLast && { state: 'done' }),
            ...(upTo && { at: upTo }),
            step: undefined,
          })
          const goesOn = isRunning && !step.isLast
          await transact(db, [
            endPart(task),
            replays.part.update(replayKey.of(replay), change, unchanged),
            ...(goesOn ? [tasks.part.put(taskAt(replay, nextAt))] : []),
          ])
        },
        (failure) => (failure.conditionFailed(0) ? { result: undefined } : undefined),
      )
    },

    /** For a replay that is over, or gone. */
    async end(task: ReplayTask): Promise<void> {
      await transact(db, [endPart(task)]).catch((error: unknown) => {
        const isOthers = error instanceof TransactionFailed && error.conditionFailed(0)
        if (!isOthers) throw error
      })
    },

    /** What was replayed stays so. Refused with `not_found`, and with `run_ended` if it is over. */
    async cancel(userId: string, replayId: string, { by }: Logged = {}): Promise<Replay> {
      return optimistically(async () => {
        const replay = await get(userId, replayId)
        if (!replay) throw new Refused('not_found')
        if (replay.state === 'cancelled') return replay
        if (replay.state === 'done') throw new Refused('run_ended')
        const [change, unchanged] = changeParts(replay, { state: 'cancelled' })
        await transact(db, [
          replays.part.update(replayKey.of(replay), change, unchanged),
          ...audit.parts(by, { userId, target: replayId }),
        ])
        return { ...replay, state: 'cancelled', updatedAt: isoNow(clock), rev: replay.rev + 1 }
      })
    },
  }
}

export type Replays = ReturnType<typeof createReplays>

function sumOf(counts: ReplayCounts, more: Partial<ReplayCounts>): ReplayCounts {
  const sum = { ...counts }
  for (const [name, value] of Object.entries(more)) sum[name as keyof ReplayCounts] += value
  return sum
}
