/** The only source of time in services, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/**
 * Whether less than this has passed since then. Not so if that is still to come: the clock was set
 * back, and how long ago it really was nobody knows.
 */
export function isRecent(clock: Clock, since: number, withinMs: number): boolean {
  const age = clock.now() - since
  return age >= 0 && age < withinMs
}

/** Whole seconds since the epoch, the unit of every stored expiry. */
export function epochSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000)
}
