/**
 * The arithmetic of a two-cell sliding window: the count of this window plus the share of the last
 * one that still reaches into it.
 *
 * From empty, a burst inside one window gets exactly the limit, and any stretch of one window's
 * length gets at most twice the limit (each of the two cells it can touch holds at most one).
 */
export interface RateLimit {
  /** Names the limit in answers and its attributes in the item, such as `minute`. */
  name: string
  limit: number
  windowSeconds: number
}

/** What is counted: the window's start in epoch seconds, its count, and the count before it. */
export interface Cells {
  window: number
  current: number
  previous: number
}

export const emptyCells: Cells = { window: 0, current: 0, previous: 0 }

/** The clocks of machines that count together differ by less; one that is further off was set back. */
const MOST_SKEW_SECONDS = 300

/**
 * The cells as of now. A window does not roll backwards because one of several machines is behind; but
 * what was counted in a time that is still far to come is not believed, or it would hold until then.
 */
export function rolled(cells: Cells, { windowSeconds }: RateLimit, nowMs: number): Cells {
  const window = Math.floor(nowMs / 1000 / windowSeconds) * windowSeconds
  if (cells.window - nowMs / 1000 > MOST_SKEW_SECONDS) return { window, current: 0, previous: 0 }
  if (window <= cells.window) return cells
  const follows = window === cells.window + windowSeconds
  return { window, current: 0, previous: follows ? cells.current : 0 }
}

/** How far `current` may rise. Rounded down, or a limit of one would never admit anything again. */
export function allowance(
  cells: Cells,
  { limit, windowSeconds }: RateLimit,
  nowMs: number,
): number {
  const windowMs = windowSeconds * 1000
  const elapsedMs = Math.min(windowMs, Math.max(0, nowMs - cells.window * 1000))
  return limit - Math.floor((cells.previous * (windowMs - elapsedMs)) / windowMs)
}

/** Whole seconds until one more would be admitted, if nobody else comes; 0 if it is now. */
export function secondsUntilAdmitted(cells: Cells, rate: RateLimit, nowMs: number): number {
  if (cells.current < allowance(cells, rate, nowMs)) return 0
  const following = cells.window + rate.windowSeconds
  const at =
    admittedAt(cells, rate) ??
    admittedAt({ window: following, current: 0, previous: cells.current }, rate) ??
    following + rate.windowSeconds
  return Math.max(1, Math.ceil(at - nowMs / 1000))
}

/** The first whole second of this window at which one more is admitted, or undefined if none is. */
function admittedAt({ window, current, previous }: Cells, rate: RateLimit): number | undefined {
  const room = rate.limit - current
  if (room <= 0) return undefined
  if (previous < room) return window
  // previous · (1 − x) < room must hold strictly, hence the step to the next whole second.
  const seconds = Math.floor(rate.windowSeconds * (1 - room / previous)) + 1
  return seconds < rate.windowSeconds ? window + seconds : undefined
}
