/**
 * The way to one connection: so many attempts at once, so many a second, none while its circuit is
 * open or its secrets cannot be opened. What cannot begin at once waits here for a few seconds; more
 * than that is put aside in the store, so that nothing piles up in memory for a destination that is
 * slow.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { Wait } from '../db/waiting.ts'
import { createCircuit } from './circuit.ts'
import type { WorkerSettings } from './settings.ts'
import type { Timers } from './timers.ts'
import { createTokenBucket } from './token-bucket.ts'

/**
 * How an attempt ended, as far as the way to the destination is concerned. `keyless`: it was not made
 * since the secrets cannot be opened now; the job is still to be done.
 */
export type LaneEnd = 'answered' | 'failed' | 'unknown' | 'keyless'

type Postponed = Extract<Wait, { wakeAt: number }>

/** What waits to be attempted. */
export interface LaneJob {
  /** The partition of the queue that it was taken from. */
  from: string
  /** The attempt must have begun by then, to end within its lease. */
  beginBy: number
  run(): Promise<LaneEnd>
  /** Puts it aside, to come back later. */
  park(wait: Postponed): void
  /** Lets others have it. */
  giveBack(): void
}

export interface LaneLimits {
  concurrency: number
  perSecond?: number | undefined
}

export interface Lane {
  offer(job: LaneJob): void
  /** What would happen to a job that is offered now, if it would not be taken. */
  refusal(): Postponed | undefined
  /** How many more would be taken now. */
  vacancies(): number
  limit(limits: LaneLimits): void
  /** Looks, now and then, whether anything moves here. */
  look(): void
  /** Those that wait here and have not begun; they are the caller's again. */
  empty(): LaneJob[]
  /** Whether it has nothing to do and nothing to remember. */
  readonly isIdle: boolean
}

/** How much work may wait here, in time. */
const LONGEST_WAIT_MS = 5_000
const MOST_WAITING = 2_000
/** What an attempt is thought to take before the first has ended. */
const FIRST_GUESS_MS = 200

export interface LaneOptions {
  clock: Clock
  timers: Timers
  settings: Pick<WorkerSettings, 'circuit' | 'keys'>
  limits: LaneLimits
  crowd: Crowd
}

/** All that are in the lanes of a worker. */
export interface Crowd {
  inHand: number
  readonly most: number
  /**
   * Those that wait in lanes that move, by where they were taken from. More from there would only
   * wait too; whatever waits in a lane that does not move says nothing about the others.
   */
  readonly waiting: Map<string, number>
}

export function createLane({ clock, timers, settings, limits, crowd }: LaneOptions): Lane {
  const circuit = createCircuit(clock, settings.circuit)
  const keys = createCircuit(clock, settings.keys)
  const bucket = createTokenBucket(clock)
  const waiting: LaneJob[] = []
  let running = 0
  let usualMs = FIRST_GUESS_MS
  let isMoving = false
  /** How often somebody looked since an attempt ended. */
  let looks = 0
  let cancelPump: (() => void) | undefined

  function room(): number {
    const { concurrency, perSecond = Number.POSITIVE_INFINITY } = limits
    // Slow destinations must not fill the memory: the more there are, the less of each.
    const taken = crowd.inHand / crowd.most
    if (taken >= 0.75) return 1
    if (taken >= 0.5) return concurrency
    const inTime = concurrency + Math.min((concurrency / usualMs) * LONGEST_WAIT_MS, MOST_WAITING)
    return Math.ceil(Math.min(inTime, Math.max(1, (perSecond * LONGEST_WAIT_MS) / 1000)))
  }

  function blocked(): Postponed | undefined {
    const until = circuit.blockedUntil()
    if (until !== undefined) return { reason: 'circuit', wakeAt: until }
    const keysUntil = keys.blockedUntil()
    return keysUntil === undefined ? undefined : { reason: 'keys', wakeAt: keysUntil }
  }

  function vacancies(): number {
    if (blocked()) return 0
    if (circuit.isOpen || keys.isOpen) return Math.max(0, 1 - running - waiting.length)
    return Math.max(0, room() - running - waiting.length)
  }

  function refusal(): Postponed | undefined {
    const block = blocked()
    if (block || vacancies() > 0) return block
    return { reason: 'limit', wakeAt: clock.now() + LONGEST_WAIT_MS }
  }

  function count(jobs: readonly LaneJob[], by: 1 | -1): void {
    if (!isMoving) return
    for (const { from } of jobs) crowd.waiting.set(from, (crowd.waiting.get(from) ?? 0) + by)
  }

  /** The first that waits, or all of them, leave. */
  function take(jobs: number): LaneJob[] {
    const taken = waiting.splice(0, jobs)
    count(taken, -1)
    return taken
  }

  function move(given: boolean): void {
    if (isMoving === given) return
    if (!given) count(waiting, -1)
    isMoving = given
    if (given) count(waiting, 1)
  }

  function pump(): void {
    cancelPump?.()
    cancelPump = undefined
    while (waiting.length > 0) {
      const block = blocked()
      if (block) {
        for (const job of empty()) job.park(block)
        return
      }
      if (running >= limits.concurrency) return
      const job = waiting[0] as LaneJob
      if (clock.now() > job.beginBy) {
        take(1)
        crowd.inHand -= 1
        job.park({ reason: 'limit', wakeAt: clock.now() })
        continue
      }
      const delay = limits.perSecond === undefined ? 0 : bucket.take(limits.perSecond)
      if (delay > 0) {
        cancelPump = timers.after(delay, pump)
        return
      }
      take(1)
      void begin(job)
    }
  }

  async function begin(job: LaneJob): Promise<void> {
    const [end, endKeys] = [circuit.begin(), keys.begin()]
    const startedAt = clock.now()
    running += 1
    // A job that fails as a program says nothing about its destination.
    const ended = await job.run().catch((): LaneEnd => 'unknown')
    running -= 1
    crowd.inHand -= 1
    usualMs = Math.max(1, usualMs * 0.8 + (clock.now() - startedAt) * 0.2)
    looks = 0
    move(true)
    end(ended === 'keyless' ? 'unknown' : ended)
    endKeys(keysEnd(ended))
    if (ended === 'keyless') {
      job.park({ reason: 'keys', wakeAt: keys.blockedUntil() ?? clock.now() })
    }
    pump()
  }

  function empty(): LaneJob[] {
    crowd.inHand -= waiting.length
    return take(waiting.length)
  }

  return {
    offer(job) {
      const refused = refusal()
      if (refused) return job.park(refused)
      waiting.push(job)
      count([job], 1)
      crowd.inHand += 1
      pump()
    },
    refusal,
    vacancies,
    limit: (given) => {
      limits = given
    },
    look() {
      looks += 1
      if (looks > 1) move(false)
    },
    empty() {
      cancelPump?.()
      return empty()
    },
    get isIdle() {
      return running === 0 && waiting.length === 0 && circuit.isQuiet && keys.isQuiet
    },
  }
}

/** Whatever was sent was signed before. */
function keysEnd(end: LaneEnd): 'answered' | 'failed' | 'unknown' {
  if (end === 'unknown') return end
  return end === 'keyless' ? 'failed' : 'answered'
}
