/** One attempt at one delivery, from the event to what is written about it. */
import type { Clock } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import type { Alerts } from '../alerts/alert.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import type { Outcome } from '../db/settling.ts'
import type { Event } from '../items/event.ts'
import { type DeliveryTask, isReplay, type LeasedTask } from '../items/task.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { Destination } from './destination.ts'
import { type EventInHand, eventInHand } from './event-in-hand.ts'
import { type Exchange, exchange } from './exchange.ts'
import type { GoneEvents } from './gone-events.ts'
import type { Health } from './health.ts'
import type { KeysWatch } from './keys-away.ts'
import type { LaneEnd } from './lane.ts'
import type { WorkerMetrics } from './metrics.ts'
import { prepareRequest } from './prepare-request.ts'
import type { WorkerSettings } from './settings.ts'
import type { Timers } from './timers.ts'
import { healthOf, laneEndOf, outcomeOf } from './verdict.ts'

export interface DeliverDeps {
  db: Pick<DataLayer, 'deliveries' | 'events' | 'settling'>
  clock: Clock
  timers: Timers
  fetcher: SafeFetch
  sandbox: Sandbox
  random: () => number
  health: Health
  alerts: Alerts
  metrics: WorkerMetrics
  gone: GoneEvents
  keys: KeysWatch
  log: Log
  settings: Pick<WorkerSettings, 'exchangeMs'>
}

/** Of an outcome that could not be written: an answer that got lost may have been good news. */
const WRITE_TRIES = 4
const WRITE_PAUSE_MS = 250

export type Deliver = ReturnType<typeof createDeliver>

export function createDeliver(deps: DeliverDeps) {
  const { db, clock, timers, health, alerts, metrics, gone, keys, settings } = deps

  /** False if the task was somebody else's by then, or its run replaced by another. */
  async function settle(
    task: DeliveryTask,
    outcome: Outcome,
    inHand: EventInHand | undefined,
  ): Promise<boolean> {
    for (let tried = 1; ; tried++) {
      try {
        const write = async (known?: Event) => {
          const after = await db.settling.settle(task, outcome, known)
          if (!after) gone.met('deliver')
          return after
        }
        await (inHand ? inHand.change(write) : write())
        return true
      } catch (error) {
        if (error instanceof Refused && error.reason === 'lease_lost') {
          // After an answer that got lost, it was most likely lost to ourselves.
          if (tried > 1) return true
          metrics.leaseLost()
          return false
        }
        if (error instanceof Refused && error.reason === 'run_replaced') {
          metrics.runReplaced()
          return false
        }
        if (tried === WRITE_TRIES || clock.now() >= task.dueAt) throw error
        await new Promise<void>((resume) => void timers.after(WRITE_PAUSE_MS * tried, resume))
      }
    }
  }

  /** Ends a delivery, or schedules its next attempt, and tells whoever should know. */
  async function conclude(
    task: DeliveryTask,
    outcome: Outcome,
    destination: Pick<Destination, 'connection'> | undefined,
    inHand: EventInHand | undefined,
  ): Promise<void> {
    if (!(await settle(task, outcome, inHand))) return
    if (outcome.state === 'retrying') return
    metrics.ended(outcome.state)
    if (!destination || outcome.state === 'filtered') return
    const { userId, sourceId, connectionId } = destination.connection
    health.ended(destination.connection, outcome.state)
    if (outcome.state !== 'failed') return
    const { eventId } = task
    const { reason } = outcome
    alerts.raise({ kind: 'delivery.failed', userId, sourceId, connectionId, eventId, reason })
  }

  async function attempted(
    made: Exchange,
    task: LeasedTask,
    destination: Destination,
    inHand: EventInHand,
  ): Promise<LaneEnd> {
    const { connection, schedule } = destination
    metrics.attempted(made.end, made.attempt.latencyMs / 1000)
    // Before it is written that the delivery may be attempted again, which it may not then.
    if (made.end === 'gone') await health.pause(connection, 'gone')
    const now = clock.now()
    const outcome = outcomeOf(made, task, { schedule, now, random: deps.random })
    await conclude(task, outcome, destination, inHand)
    // Somebody tries whether it works again: that must not be why it is paused.
    const end = healthOf(made)
    if (end === 'delivered' || !isReplay(task)) health.attempted(connection, end)
    return laneEndOf(made)
  }

  return {
    conclude,

    /** Attempts a delivery. `crowded` if there is no room to transform it, or no time is left. */
    async deliver(
      task: LeasedTask,
      destination: Destination,
      given: EventInHand | undefined,
    ): Promise<LaneEnd | 'crowded'> {
      const inHand = given ?? (await readEvent(task))
      const event = await inHand?.received()
      if (!inHand || !event) {
        // Deleted or expired: nothing is left to be told to its owner.
        await settle(task, { state: 'failed', reason: 'event_gone' }, inHand)
        return 'unknown'
      }
      if (await db.deliveries.isReplaced(task)) {
        await settle(task, { state: 'failed', reason: 'replaced' }, inHand)
        return 'unknown'
      }
      // What is routed was filtered then; what is replayed has not been.
      const isNew = isReplay(task) && task.attemptNumber === 1
      const filtered = isNew ? destination.filteredFor(event) : undefined
      if (filtered !== undefined) {
        await conclude(task, { state: 'filtered', reason: filtered }, destination, inHand)
        return 'unknown'
      }
      const prepared = await prepareRequest(event, destination, task, { ...deps, ...settings })
      if ('crowded' in prepared) return 'crowded'
      if ('keyless' in prepared) {
        keys.away(prepared.keyless)
        return 'keyless'
      }
      if ('dropped' in prepared) {
        await conclude(task, { state: 'filtered', reason: prepared.dropped }, destination, inHand)
        return 'unknown'
      }
      if ('failed' in prepared) return attempted(prepared.failed, task, destination, inHand)
      // An exchange that outlasts its lease could be made twice.
      if (clock.now() + settings.exchangeMs > task.dueAt) return 'crowded'
      if (!isReplay(task) && task.attemptNumber === 1) {
        metrics.firstAttempt((clock.now() - task.receivedAt) / 1000)
      }
      const { destinationUrl } = destination.connection
      const made = await exchange(deps, destinationUrl, prepared.request)
      return attempted(made, task, destination, inHand)
    },
  }

  async function readEvent(task: LeasedTask): Promise<EventInHand | undefined> {
    const event = await db.events.getNeeded(task)
    return event ? eventInHand(db.events, event) : undefined
  }
}
