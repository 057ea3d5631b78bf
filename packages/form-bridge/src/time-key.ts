/**
 * Sort keys by time: `TIME#{time}#{ulid}`. The specification has the time alone, and then of two
 * items in one moment the second would take the place of the first.
 */
import type { Clock } from '@strongroom/kit/clock'
import { createUlids } from '@strongroom/kit/ulid'

export interface Moment {
  iso: string
  /** `{time}#{ulid}` */
  unique: string
}

/** A source of moments, each different from all others and, from one source, after them. */
export function createMoments(clock: Clock): () => Moment {
  const ulids = createUlids()
  return () => {
    const now = clock.now()
    const iso = new Date(now).toISOString()
    return { iso, unique: `${iso}#${ulids(now)}` }
  }
}

export interface IsoRange {
  /** Both included. */
  from?: string
  to?: string
}

/** The bounds of a BETWEEN; `~` comes after every ULID. */
export function timeBounds(earliest: string, { from = earliest, to }: IsoRange): [string, string] {
  const lower = from > earliest ? from : earliest
  return [`TIME#${lower}`, to === undefined ? 'TIME#~' : `TIME#${to}#~`]
}
