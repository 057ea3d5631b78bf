/** The ways to all connections that a worker has something for. None of them waits for another. */
import type { Clock } from '@strongroom/kit/clock'
import type { Destination } from './destination.ts'
import { createLane, type Lane, type LaneJob } from './lane.ts'
import type { WorkerSettings } from './settings.ts'
import type { Timers } from './timers.ts'

export interface Lanes {
  of(destination: Destination): Lane
  /** Whether more may be taken from the queue: not while what was taken is only waiting for us. */
  mayTake(): boolean
  /** All that wait and have not begun; they are the caller's again. */
  empty(): LaneJob[]
  /** Lets go of those that have nothing to do and nothing to remember. */
  sweep(): void
  readonly inHand: number
}

/** So many that wait in lanes which are moving keep the processor busy. */
const ENOUGH_WAITING = 256

export function createLanes({
  clock,
  timers,
  settings,
}: {
  clock: Clock
  timers: Timers
  settings: Pick<WorkerSettings, 'mostInHand' | 'circuit'>
}): Lanes {
  const lanes = new Map<string, Lane>()
  const crowd = { inHand: 0, most: settings.mostInHand }

  return {
    of({ connection: { connectionId }, limits }) {
      let lane = lanes.get(connectionId)
      if (!lane) {
        lane = createLane({ clock, timers, settings, limits, crowd })
        lanes.set(connectionId, lane)
      }
      lane.limit(limits)
      return lane
    },
    mayTake() {
      let waiting = 0
      for (const lane of lanes.values()) waiting += lane.pressure()
      return waiting < ENOUGH_WAITING && crowd.inHand < crowd.most
    },
    empty: () => [...lanes.values()].flatMap((lane) => lane.empty()),
    sweep() {
      for (const [id, lane] of lanes) if (lane.isIdle) lanes.delete(id)
    },
    get inHand() {
      return crowd.inHand
    },
  }
}
