/**
 * How old a key is. `create-time` is opaque to the key store, because AWS's runtimes write it in
 * several ways; here it is read for people, and to find keys that are due for rotation.
 */
import type { Clock } from '@strongroom/platform/clock'

/** Fractions are passed over: some runtimes write them wrong, and some after a colon. */
const TIME =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.:,]\d{1,9})?(?:Z|([+-])(\d\d):?(\d\d))$/

/** Some runtimes write local time and call it UTC. Later than this is no such mistake. */
const MAX_AHEAD_MS = 24 * 60 * 60 * 1000

/** Whole seconds since a key was made; undefined if its time cannot be read or is yet to come. */
export function ageSeconds(createTime: string, clock: Clock): number | undefined {
  const madeAt = parsed(createTime)
  if (madeAt === undefined) return undefined
  const age = clock.now() - madeAt
  return age < -MAX_AHEAD_MS ? undefined : Math.max(0, Math.floor(age / 1000))
}

function parsed(text: string): number | undefined {
  const match = TIME.exec(text)
  if (!match) return undefined
  const [, year, month, day, hours, minutes, seconds, sign, offsetHours = 0, offsetMinutes = 0] =
    match
  // Without its fraction it has the one form that Date reads the same everywhere.
  const utc = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`)
  if (Number.isNaN(utc)) return undefined
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000
  return sign === '-' ? utc + offset : utc - offset
}
