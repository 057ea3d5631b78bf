/** The only source of time in services, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Whole seconds since the epoch, the unit of every stored expiry. */
export function epochSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000)
}
