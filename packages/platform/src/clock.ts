/** The only source of time, injected so that tests can control it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/**
 * Whether less than `withinMs` has passed since a moment. False if the moment is in the future: the
 * clock was set back, so nothing is known about how long ago it was.
 */
export function isRecent(clock: Clock, since: number, withinMs: number): boolean {
  const age = clock.now() - since
  return age >= 0 && age < withinMs
}

/** Whole seconds since the epoch, the unit of every stored expiry. */
export function epochSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000)
}
