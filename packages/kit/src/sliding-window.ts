/**
 * The arithmetic of a sliding window counter: the count of the current window plus a share of the
 * previous one, in proportion to how much of it still lies within the last `windowSeconds`.
 *
 * Starting from empty, a burst inside one window gets exactly the limit. Any period of one window's
 * length gets at most twice the limit, because it touches two windows with at most one limit each.
 */
export interface RateLimit {
  /** The name in responses and in the attributes of the item, such as `minute`. */
  name: string
  limit: number
  windowSeconds: number
}

/** The start of the window in epoch seconds, its count, and the count of the previous window. */
export interface Cells {
  window: number
  current: number
  previous: number
}

export const emptyCells: Cells = { window: 0, current: 0, previous: 0 }

/** The clocks of machines that count together differ by less. */
const MAX_SKEW_SECONDS = 300

/**
 * The cells at the given time. A window does not move back because the clock of one machine is behind.
 * A window far in the future means that the clock was set back: it is dropped, or it would count until
 * then.
 */
export function rollCells(cells: Cells, { windowSeconds }: RateLimit, nowMs: number): Cells {
  const window = Math.floor(nowMs / 1000 / windowSeconds) * windowSeconds
  if (cells.window - nowMs / 1000 > MAX_SKEW_SECONDS) return { window, current: 0, previous: 0 }
  if (window <= cells.window) return cells
  const follows = window === cells.window + windowSeconds
  return { window, current: 0, previous: follows ? cells.current : 0 }
}

/** The maximum of `current`. The share is rounded down, or a limit of one would never admit again. */
export function allowance(
  cells: Cells,
  { limit, windowSeconds }: RateLimit,
  nowMs: number,
): number {
  const windowMs = windowSeconds * 1000
  const elapsedMs = Math.min(windowMs, Math.max(0, nowMs - cells.window * 1000))
  return limit - Math.floor((cells.previous * (windowMs - elapsedMs)) / windowMs)
}

/** Whole seconds until one more is admitted if nothing else is counted; 0 if it is admitted now. */
export function secondsUntilAdmitted(cells: Cells, rate: RateLimit, nowMs: number): number {
  if (cells.current < allowance(cells, rate, nowMs)) return 0
  const following = cells.window + rate.windowSeconds
  const at =
    admittedAt(cells, rate) ??
    admittedAt({ window: following, current: 0, previous: cells.current }, rate) ??
    following + rate.windowSeconds
  return Math.max(1, Math.ceil(at - nowMs / 1000))
}

/** The first whole second of this window at which one more is admitted; undefined if there is none. */
function admittedAt({ window, current, previous }: Cells, rate: RateLimit): number | undefined {
  const room = rate.limit - current
  if (room <= 0) return undefined
  if (previous < room) return window
  // previous · (1 − x) < room must hold strictly, hence the step to the next whole second.
  const seconds = Math.floor(rate.windowSeconds * (1 - room / previous)) + 1
  return seconds < rate.windowSeconds ? window + seconds : undefined
}
