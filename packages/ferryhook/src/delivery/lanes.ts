/** The ways to all connections that a worker has something for. None of them waits for another. */
import type { Clock } from '@strongroom/kit/clock'
import type { Destination } from './destination.ts'
import { createLane, type Crowd, type Lane, type LaneJob } from './lane.ts'
import type { WorkerSettings } from './settings.ts'
import type { Timers } from './timers.ts'

export interface Lanes {
  of(destination: Destination): Lane
  /** How many more may be taken from a partition of the queue: none while those taken only wait. */
  vacancies(from: string): number
  /** All that wait and have not begun; they are the caller's again, and nothing begins any more. */
  close(): LaneJob[]
  readonly isClosed: boolean
  /** Lets go of those that have nothing to do and nothing to remember. */
  sweep(): void
  readonly inHand: number
}

/** So many that wait in lanes which are moving keep the processor busy. */
const ENOUGH_WAITING = 32
/** How often it is looked which lanes move. */
const LOOK_MS = 250

export function createLanes({
  clock,
  timers,
  settings,
}: {
  clock: Clock
  timers: Timers
  settings: Pick<WorkerSettings, 'mostInHand' | 'circuit' | 'keys'>
}): Lanes {
  const lanes = new Map<string, Lane>()
  const crowd: Crowd = { inHand: 0, most: settings.mostInHand, waiting: new Map() }
  let stopLooking: (() => void) | undefined
  let isClosed = false

  /** By timers, not by a clock: while the process itself is held up, nothing can move. */
  function look(): void {
    for (const lane of lanes.values()) lane.look()
    stopLooking = crowd.inHand > 0 ? timers.after(LOOK_MS, look) : undefined
  }

  return {
    of({ connection: { connectionId }, limits }) {
      let lane = lanes.get(connectionId)
      if (!lane) {
        lane = createLane({ clock, timers, settings, limits, crowd })
        lanes.set(connectionId, lane)
      }
      lane.limit(limits)
      stopLooking ??= timers.after(LOOK_MS, look)
      return lane
    },
    vacancies: (from) =>
      Math.min(ENOUGH_WAITING - (crowd.waiting.get(from) ?? 0), crowd.most - crowd.inHand),
    close() {
      isClosed = true
      stopLooking?.()
      return [...lanes.values()].flatMap((lane) => lane.empty())
    },
    sweep() {
      for (const [id, lane] of lanes) if (lane.isIdle) lanes.delete(id)
    },
    get isClosed() {
      return isClosed
    },
    get inHand() {
      return crowd.inHand
    },
  }
}
