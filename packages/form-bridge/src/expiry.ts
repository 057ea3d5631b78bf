/**
 * Expiry, decided by the reader: the store deletes what has expired days later.
 *
 * `ttl` and the ISO time that some items have beside it are made together and name the same moment;
 * at that second the item is gone.
 */
import { type Clock, epochSeconds } from '@strongroom/kit/clock'

export interface Ending {
  ttl: number
  iso: string
}

export function endingAfter(clock: Clock, seconds: number): Ending {
  const ttl = epochSeconds(clock) + seconds
  return { ttl, iso: new Date(ttl * 1000).toISOString() }
}

export function isLive({ ttl }: { ttl?: number | undefined }, clock: Clock): boolean {
  return ttl === undefined || ttl > epochSeconds(clock)
}

/** An item unless it has expired; for use as `.then(ifLive(clock))`. */
export function ifLive(clock: Clock) {
  return <T extends { ttl?: number | undefined }>(item: T | undefined): T | undefined =>
    item && isLive(item, clock) ? item : undefined
}

export function isoNow(clock: Clock): string {
  return new Date(clock.now()).toISOString()
}

/**
 * The earliest time that is still live among items that all live equally long. As the lower bound
 * of a key range it leaves out what has expired without a filter, so that a page is filled in one read.
 */
export function earliestLive(clock: Clock, lifetimeSeconds: number): string {
  return new Date((epochSeconds(clock) - lifetimeSeconds + 1) * 1000).toISOString()
}
