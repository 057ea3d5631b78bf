/** What is done with each task, by its kind and by the state of its connection. */
import type { Clock } from '@strongroom/kit/clock'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import type { Wait } from '../db/waiting.ts'
import type { DeliveryTask, DueTask, LeasedTask, RouteTask, WakeTask } from '../items/task.ts'
import type { Deliver } from './deliver.ts'
import type { Destination } from './destination.ts'
import type { Destinations } from './destinations.ts'
import type { EventInHand } from './event-in-hand.ts'
import type { GoneEvents } from './gone-events.ts'
import type { LaneEnd, LaneJob } from './lane.ts'
import type { Lanes } from './lanes.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { WorkerSettings } from './settings.ts'

export interface DispatchDeps {
  db: Pick<DataLayer, 'dueWork' | 'waiting' | 'usage' | 'accountEnd'>
  clock: Clock
  destinations: Destinations
  lanes: Lanes
  deliver: Deliver
  route(task: RouteTask): Promise<void>
  wake(task: WakeTask): Promise<void>
  metrics: WorkerMetrics
  gone: GoneEvents
  settings: Pick<WorkerSettings, 'exchangeMs' | 'leaseGraceMs'>
  /** Notes what is going on beside the caller, and tells of its failure. */
  track<T>(work: Promise<T>): Promise<T | undefined>
  /** An attempt has ended: there may be room for another. */
  onProgress(): void
}

/** Where a leased task comes from. */
export interface Origin {
  /** The partition of the queue that it, or the event, was taken from. */
  from: string
  /** The event, if it is at hand. */
  inHand?: EventInHand
}

/** Between the last moment to begin and the end of the exchange there is work besides. */
const BEGIN_MARGIN_MS = 5_000
const CROWDED_MS = 5_000

export type Dispatch = ReturnType<typeof createDispatch>

export function createDispatch(deps: DispatchDeps) {
  const { db, clock, destinations, lanes, deliver, metrics, gone, settings, track } = deps

  /** Why a delivery may not be attempted now. */
  function waitOf(destination: Destination): Wait | undefined {
    if (destination.connection.status === 'paused') return { reason: 'paused' }
    return lanes.of(destination).refusal()
  }

  function isGone(destination: Destination | null): destination is null {
    return !destination || destination.connection.status === 'deleted'
  }

  const endDeleted = (task: DeliveryTask, inHand?: EventInHand) =>
    deliver.conclude(task, { state: 'failed', reason: 'connection_deleted' }, undefined, inHand)

  async function takeDelivery(task: DeliveryTask): Promise<void> {
    const destination = await destinations.of(task)
    if (isGone(destination)) return endDeleted(task)
    const wait = waitOf(destination)
    if (wait) return park(task, destination, wait)
    const leaseUntil = clock.now() + settings.exchangeMs + settings.leaseGraceMs
    const leased = await db.dueWork.claim(task, leaseUntil)
    if (leased) offer(leased, destination, { from: task.PK })
  }

  /** Takes a task that is this worker's. */
  function offer(task: LeasedTask, destination: Destination | null, origin: Origin): void {
    if (isGone(destination)) return void track(endDeleted(task, origin.inHand))
    const { status } = destination.connection
    if (status === 'paused')
      return void track(park(task, destination, { reason: 'paused' }, origin))
    // Claimed or routed while the worker was told to end.
    if (lanes.isClosed) return void track(db.dueWork.giveBack(task))
    void track(
      new Promise<void>((leave) => {
        lanes.of(destination).offer(jobOf(task, destination, origin, leave))
      }),
    )
  }

  function jobOf(
    task: LeasedTask,
    destination: Destination,
    origin: Origin,
    leave: () => void,
  ): LaneJob {
    const run = async (): Promise<LaneEnd> => {
      const end = await deliver.deliver(task, destination, origin.inHand)
      if (end !== 'crowded') return end
      const wakeAt = clock.now() + CROWDED_MS
      await park(task, destination, { reason: 'limit', wakeAt }, origin)
      return 'unknown'
    }
    return {
      from: origin.from,
      beginBy: task.dueAt - settings.exchangeMs - BEGIN_MARGIN_MS,
      async run() {
        const end = (await track(run())) ?? 'unknown'
        // Otherwise its lane parks it.
        if (end !== 'keyless') leave()
        deps.onProgress()
        return end
      },
      park: (wait) => void track(park(task, destination, wait, origin)).then(leave),
      giveBack: () => void track(db.dueWork.giveBack(task)).then(leave),
    }
  }

  async function park(
    task: DeliveryTask,
    { connection }: Destination,
    wait: Wait,
    origin: Origin = { from: task.PK },
  ): Promise<void> {
    try {
      const isParked = await db.waiting.park(task, connection, wait)
      if (isParked) metrics.parked(wait.reason)
      else gone.met('deliver')
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      if (error.reason === 'lease_lost') return metrics.leaseLost()
      if (error.reason === 'run_replaced') return metrics.runReplaced()
      // It is not as it was remembered: it may be allowed now.
      destinations.forget(connection.sourceId)
      const { leaseId } = task
      if (leaseId === undefined) return takeDelivery(task)
      offer({ ...task, leaseId }, await destinations.of(task), origin)
    }
  }

  return {
    offer,

    /** Resolves when the task is no longer due. */
    async handle(task: DueTask): Promise<void> {
      switch (task.kind) {
        case 'route':
          return deps.route(task)
        case 'deliver':
          return takeDelivery(task)
        case 'wake':
          return deps.wake(task)
        case 'count':
          return db.usage.roll(task)
        case 'purge':
          return void (await db.accountEnd.finish(task))
      }
    },
  }
}
