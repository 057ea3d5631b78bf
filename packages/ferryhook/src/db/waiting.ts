/**
 * Deliveries that may not be attempted now: they leave the queue, so that nothing stands at the head
 * of a shard and is skipped over, and come back by a wake.
 */
import { epochSeconds } from '@strongroom/kit/clock'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { Connection } from '../items/connection.ts'
import { type DeliveryState, stateBefore } from '../items/delivery-state.ts'
import type { Event } from '../items/event.ts'
import {
  type DeliveryTask,
  type WaitingTask,
  WaitingTaskItem,
  waitingTaskKey,
  type WakeTask,
  WakeTaskItem,
} from '../items/task.ts'
import { eventsTable } from '../table.ts'
import type { Connections } from './connections.ts'
import { type DeliveryWriter, LONGEST_WAIT_SECONDS } from './delivery-writer.ts'
import type { DataLayerDeps } from './deps.ts'
import type { DueWork } from './due-work.ts'
import type { EventWriter } from './event-writer.ts'
import { Refused } from './refused.ts'
import type { TaskWriter } from './task-writer.ts'
import { optimistically } from './transaction.ts'

/** A delivery that waited too long fails this long before its event expires, so that it is seen. */
const NOTICE_SECONDS = 3_600

/** A connection may have been paused for weeks: so many of its deliveries are held in memory. */
const READ_AT_ONCE = 100

/** So many transactions are under way at once when deliveries are let go. */
const RELEASED_AT_ONCE = 20

/** The keys of those that their owner holds begin with it, see `heldTaskKey`. */
const HELD = '~'

/** So often what is held is looked at for having waited too long. */
const OVERSTAY_STEP_MS = 1_800_000

export type Wait =
  /** Held until somebody resumes the connection, which wakes it. */
  | { reason: 'paused' }
  /** Over a limit, its circuit open, or its secrets not to be opened: tried again after this time. */
  | { reason: 'limit' | 'circuit' | 'keys'; wakeAt: number }

/** How the wait of a delivery ended: as it was to, since its event is gone, or not by the caller. */
type Leaving = 'left' | 'gone' | 'not_ours'

export interface WaitingDeps extends Pick<DataLayerDeps, 'db' | 'clock'> {
  tasks: TaskWriter
  dueWork: DueWork
  writer: EventWriter
  deliveryWriter: DeliveryWriter
  connections: Pick<Connections, 'unchangedPart'>
}

export function createWaiting(deps: WaitingDeps) {
  const { db, clock, tasks, dueWork, writer, deliveryWriter, connections } = deps
  const waiting = entity(db, eventsTable, WaitingTaskItem)
  const wakes = entity(db, eventsTable, WakeTaskItem)

  async function list(connectionId: string, limit?: number): Promise<WaitingTask[]> {
    const { PK } = waitingTaskKey.of({ connectionId, parkedAt: '', eventId: '' })
    const key = expr`${waiting.attr('PK')} = ${PK} AND ${waiting.attr('SK')} < ${HELD}`
    const { items } = await waiting.query({ key, ...(limit !== undefined && { limit }) })
    return items
  }

  /** Those that their owner holds, the longest held first. */
  async function listHeld(connectionId: string, limit: number): Promise<WaitingTask[]> {
    const { PK } = waitingTaskKey.of({ connectionId, parkedAt: '', eventId: '' })
    const key = expr`${waiting.attr('PK')} = ${PK} AND ${waiting.attr('SK')} >= ${HELD}`
    return (await waiting.query({ key, limit })).items
  }

  /** Ends the wait of one delivery, unless somebody else did or another run has replaced its own. */
  async function leave(
    task: WaitingTask,
    to: (event: Event) => Promise<TransactWriteItem[]>,
  ): Promise<Leaving> {
    const exists = expr`attribute_exists(${waiting.attr('PK')})`
    let isReplaced = false
    return optimistically<Leaving>(
      async () => {
        const event = isReplaced ? undefined : await writer.needed(task)
        const end = waiting.part.delete({ PK: task.PK, SK: task.SK }, exists)
        await transact(db, [end, ...(event ? await to(event) : [])])
        if (isReplaced) return 'not_ours'
        return event ? 'left' : 'gone'
      },
      (failure) => {
        isReplaced = failure.conditionFailed(1)
        return failure.conditionFailed(0) ? { result: 'not_ours' } : undefined
      },
    )
  }

  /** Back into the queue, due now, in the state it had before it was held. */
  function release(task: WaitingTask): Promise<Leaving> {
    return leave(task, async (event) => {
      const { PK: _pk, SK: _sk, kind: _kind, reason, ...rest } = task
      const due = await tasks.delivery({ ...rest, dueAt: clock.now() })
      if (reason !== 'paused') return [tasks.putDelivery(due)]
      const to = stateBefore(task.attemptNumber)
      const { parts } = await deliveryWriter.change(event, { task, from: 'held', to })
      return [...parts, tasks.putDelivery(due)]
    })
  }

  function isOverstayed({ parkedAt }: WaitingTask): boolean {
    const until = Math.ceil(parkedAt / 1000) + LONGEST_WAIT_SECONDS
    return until - NOTICE_SECONDS <= epochSeconds(clock)
  }

  function fail(task: WaitingTask): Promise<Leaving> {
    const from = isHeld(task) ? 'held' : stateBefore(task.attemptNumber)
    const change = { task, from, to: 'failed', reason: 'retention' } as const
    return leave(task, async (event) => (await deliveryWriter.change(event, change)).parts)
  }

  async function releaseAll(waitingTasks: readonly WaitingTask[]) {
    const ends: Leaving[] = []
    for (let from = 0; from < waitingTasks.length; from += RELEASED_AT_ONCE) {
      const some = waitingTasks.slice(from, from + RELEASED_AT_ONCE)
      ends.push(...(await Promise.all(some.map(release))))
    }
    return countsOf(ends)
  }

  /** What is held needs no wake until it has overstayed; many of those are one. */
  function overstayWake(connectionId: string, neededUntil: number) {
    const at = (neededUntil - NOTICE_SECONDS) * 1000
    return tasks.wake(connectionId, at, { stepMs: OVERSTAY_STEP_MS })
  }

  async function failAll(
    connectionId: string,
    read: (connectionId: string, limit: number) => Promise<WaitingTask[]>,
  ) {
    const ends: Leaving[] = []
    // The longest waiting comes first, and usually is not even near.
    const [oldest] = await read(connectionId, 1)
    if (!oldest || !isOverstayed(oldest)) return countsOf(ends)
    for (;;) {
      const overstayed = (await read(connectionId, READ_AT_ONCE)).filter(isOverstayed)
      for (const task of overstayed) ends.push(await fail(task))
      // Each of them is gone now, by us or by another, so the next read goes on behind them.
      if (overstayed.length < READ_AT_ONCE) return countsOf(ends)
    }
  }

  return {
    /** Those of one connection that a wake may let go, the longest waiting first. */
    list,

    overstayWake,

    /**
     * Refused with `lease_lost` if the task is somebody else's by now, and with `connection_changed`
     * if the connection is not as it was seen: it may be allowed now, so look again. With
     * `run_replaced` if another run has taken the place of the task's, which ends the task. False if
     * the event is gone, and the task with it.
     */
    async park(
      task: DeliveryTask,
      seen: Pick<Connection, 'connectionId' | 'sourceId' | 'rev'>,
      wait: Wait,
    ): Promise<boolean> {
      const { connectionId } = task
      const parkedAt = task.parkedAt ?? clock.now()
      const neededUntil = Math.ceil(parkedAt / 1000) + LONGEST_WAIT_SECONDS
      let isReplaced = false
      return optimistically<boolean>(
        async () => {
          const event = await writer.needed(task)
          const end = dueWork.endPart(task)
          if (!event || isReplaced) {
            await transact(db, [end])
            if (isReplaced) throw new Refused('run_replaced')
            return false
          }

          const from = stateBefore(task.attemptNumber)
          const to: DeliveryState = wait.reason === 'paused' ? 'held' : from
          const place = waitingTaskKey.of({ ...task, parkedAt })
          const change = await deliveryWriter.change(event, {
            task,
            from,
            to,
            reason: wait.reason,
            neededUntil,
            next: place,
          })
          const { PK: _pk, SK: _sk, dueAt: _due, leaseId: _lease, ...rest } = task
          await transact(db, [
            end,
            connections.unchangedPart(seen),
            ...change.parts,
            waiting.part.put({
              ...rest,
              ...place,
              kind: 'wait',
              keptUntil: change.after.expiresAt,
              parkedAt,
              reason: wait.reason,
            }),
            wait.reason === 'paused'
              ? await overstayWake(connectionId, neededUntil)
              : await tasks.wake(connectionId, wait.wakeAt),
          ])
          return true
        },
        (failure) => {
          if (failure.conditionFailed(0)) throw new Refused('lease_lost', { cause: failure })
          if (failure.conditionFailed(1))
            throw new Refused('connection_changed', { cause: failure })
          isReplaced = failure.conditionFailed(2)
          return undefined
        },
      )
    },

    /**
     * Lets the longest waiting go, at most `few`, and wakes again at `againAt` while any are left.
     * Of a paused connection only those go that are not held yet, so that they will be. Those whose
     * event is `gone` just end. The wake is ended last: after a crash it is still due.
     */
    async wake(
      task: WakeTask,
      { few, againAt, paused = false }: { few: number; againAt: number; paused?: boolean },
    ): Promise<{ released: number; gone: number; more: boolean }> {
      const { connectionId } = task
      const isForHeld = task.dueAt % OVERSTAY_STEP_MS === 0
      const held = isForHeld ? await failAll(connectionId, listHeld) : countsOf([])
      const concerned = async (atMost: number) => {
        // Those that are not held waited before it was paused, and so stand at the beginning.
        if (paused) return withoutHeld(await list(connectionId, READ_AT_ONCE)).slice(0, atMost)
        return atMost > 0 ? list(connectionId, atMost) : []
      }
      const { left, gone } = await releaseAll(await concerned(few))

      const lastWake = expr`${wakes.attr('wakeId')} = ${task.wakeId}`
      const end = wakes.part.delete({ PK: task.PK, SK: task.SK }, lastWake)
      const more = (await concerned(1)).length > 0
      // Later than the one that ends: a transaction cannot both delete and put one item.
      const again = more ? [await tasks.wake(connectionId, Math.max(againAt, task.dueAt + 1))] : []
      await optimistically(
        () => transact(db, [end, ...again]),
        // Ended by another worker, or put anew by a delivery parked meanwhile: then it is due again.
        (failure) => (failure.conditionFailed(0) ? { result: undefined } : undefined),
      )
      return { released: left, gone: gone + held.gone, more }
    },

    /** Fails, with the reason `retention`, what waited for thirty days, unless its event is gone. */
    async failOverstayed(connectionId: string): Promise<{ failed: number; gone: number }> {
      const { left, gone } = await failAll(connectionId, list)
      return { failed: left, gone }
    },
  }
}

function countsOf(ends: readonly Leaving[]): { left: number; gone: number } {
  const count = (wanted: Leaving) => ends.filter((end) => end === wanted).length
  return { left: count('left'), gone: count('gone') }
}

function withoutHeld(tasks: WaitingTask[]): WaitingTask[] {
  return tasks.filter((task) => !isHeld(task))
}

function isHeld({ reason }: WaitingTask): boolean {
  return reason === 'paused' || reason === 'hold'
}

export type Waiting = ReturnType<typeof createWaiting>
