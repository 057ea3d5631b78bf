/**
 * Ends secrets at their time: after the answer of every request that names one, and at the deadline
 * of the claim that read it last. What is missed, because the process stopped, the sweep ends.
 */
import { type Clock, epochSeconds } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import type { SecretStore } from './store.ts'
import { GRACE_SECONDS } from './table.ts'
import type { Timers } from './timers.ts'

/** Together they cost the store little more than one, but many seconds' worth of them too much. */
const AT_ONCE = 100

export interface Reducer {
  /** Looks at a secret as soon as this second has come, and at once if it has. */
  lookAt(id: string, second: number): void
  /** Finishes what is running and leaves the rest. */
  close(): Promise<void>
}

export function createReducer(options: {
  store: Pick<SecretStore, 'reduce'>
  clock: Clock
  timers: Timers
  log: Log
}): Reducer {
  const { store, clock, timers, log } = options
  const waiting = new Map<number, Set<string>>()
  let next = Infinity
  let cancel = () => {}
  let running = Promise.resolve()
  let closed = false

  /** One timer, for the earliest second. */
  function wake(second: number) {
    if (closed || second >= next) return
    cancel()
    next = second
    cancel = timers.after(Math.max(0, second * 1000 - clock.now()), () => {
      next = Infinity
      running = running.then(round)
    })
  }

  async function round() {
    const now = epochSeconds(clock)
    const seconds = [...waiting.keys()].filter((second) => second <= now)
    const ids = seconds.flatMap((second) => [...(waiting.get(second) ?? [])])
    for (const second of seconds) waiting.delete(second)
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      if (closed) return
      await Promise.all(ids.slice(at, at + AT_ONCE).map(look))
    }
    wake(Math.min(...waiting.keys()))
  }

  async function look(id: string) {
    try {
      const again = await store.reduce(id)
      // What is further away than a claim reaches is an expiry: the sweep and TTL see to those.
      if (again !== undefined && again <= epochSeconds(clock) + GRACE_SECONDS) lookAt(id, again)
    } catch (error) {
      log.error('Cannot end a secret that may be over: the next sweep or TTL will', { error })
    }
  }

  function lookAt(id: string, second: number) {
    const ids = waiting.get(second) ?? new Set()
    waiting.set(second, ids.add(id))
    wake(second)
  }

  return {
    lookAt,
    async close() {
      closed = true
      cancel()
      await running
    },
  }
}
