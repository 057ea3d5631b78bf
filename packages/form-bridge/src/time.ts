/**
 * Expiry and sort keys by time.
 *
 * Readers check the expiry of an item, because the store deletes expired items up to days later. An
 * item expires at the second of its `ttl`.
 */
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import { createUlids } from '@strongroom/kit/ids'

/** The same second twice, for items that have an ISO time beside their `ttl`. */
export interface Expiry {
  ttl: number
  iso: string
}

export function expiresIn(clock: Clock, seconds: number): Expiry {
  const ttl = epochSeconds(clock) + seconds
  return { ttl, iso: new Date(ttl * 1000).toISOString() }
}

export function isUnexpired({ ttl }: { ttl?: number | undefined }, clock: Clock): boolean {
  return ttl === undefined || ttl > epochSeconds(clock)
}

/** Drops an expired item: `get(key).then(unexpired(clock))`. */
export function unexpired(clock: Clock) {
  return <T extends { ttl?: number | undefined }>(item: T | undefined): T | undefined =>
    item && isUnexpired(item, clock) ? item : undefined
}

export function isoNow(clock: Clock): string {
  return new Date(clock.now()).toISOString()
}

/** `2026-11-01` */
export function isoDate(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10)
}

/**
 * The creation time of the oldest unexpired item, if all have the same lifetime. As the lower bound
 * of a key range it leaves out expired items without a filter, so one read fills a page.
 */
export function oldestUnexpired(clock: Clock, lifetimeSeconds: number): string {
  return new Date((epochSeconds(clock) - lifetimeSeconds + 1) * 1000).toISOString()
}

export interface TimeKey {
  iso: string
  /** `{time}#{ulid}`: the time alone would let two items of one millisecond overwrite each other. */
  unique: string
}

/** Returns a source of unique keys that increase with each call. */
export function createTimeKeys(clock: Clock): () => TimeKey {
  const ulids = createUlids()
  return () => {
    const now = clock.now()
    const iso = new Date(now).toISOString()
    return { iso, unique: `${iso}#${ulids(now)}` }
  }
}

/** Both ends included. */
export interface IsoRange {
  from?: string
  to?: string
}

/** The bounds of a BETWEEN over `TIME#{time}#{ulid}`; `~` sorts after every ULID. */
export function timeBounds(earliest: string, { from = earliest, to }: IsoRange): [string, string] {
  const lower = from > earliest ? from : earliest
  return [`TIME#${lower}`, to === undefined ? 'TIME#~' : `TIME#${to}#~`]
}
