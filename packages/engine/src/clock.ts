// The only source of time of the engine, so that tests can move it: expiry of items, of idempotency
// tokens, creation times. Durations of I/O are not measured with it.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Whole seconds since the epoch, the unit of every time to live. */
export function epochSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000)
}
