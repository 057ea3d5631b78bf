import { type Clock, epochSeconds } from '@strongroom/kit/clock'

export function isoNow(clock: Clock): string {
  return new Date(clock.now()).toISOString()
}

/** The first day of the calendar month in UTC. */
export function monthOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 7)}-01`
}

/** When the calendar month after the one of this time begins, in UTC. */
export function monthAfter(ms: number): number {
  const at = new Date(ms)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
}

/** TTL deletes when it finds the time; to us an expired item is gone at once. */
export function isLive(clock: Clock, item: { expiresAt: number }): boolean {
  return item.expiresAt > epochSeconds(clock)
}

/** The item, unless there is none or it has expired. */
export function live<T extends { expiresAt: number }>(
  clock: Clock,
  item: T | undefined,
): T | undefined {
  return item && isLive(clock, item) ? item : undefined
}
