/** Times as items store them, and expiry. */
import { type Clock, epochSeconds } from '@strongroom/platform/clock'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

export function isoNow(clock: Clock): string {
  return new Date(clock.now()).toISOString()
}

/** The first day of the calendar month in UTC. */
export function monthStart(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 7)}-01`
}

/** The start of the next calendar month in UTC. */
export function nextMonthStart(ms: number): number {
  const at = new Date(ms)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
}

/** TTL deletes items late, so every read checks the expiry itself. */
export function isUnexpired(clock: Clock, item: { expiresAt: number }): boolean {
  return item.expiresAt > epochSeconds(clock)
}

/** Undefined if the item is missing or has expired. */
export function unlessExpired<T extends { expiresAt: number }>(
  clock: Clock,
  item: T | undefined,
): T | undefined {
  return item && isUnexpired(clock, item) ? item : undefined
}
