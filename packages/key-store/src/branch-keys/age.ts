/**
 * The age of a key. `create-time` is opaque to the key store, because AWS's runtimes write it in several
 * formats; it is parsed here for display and to find keys that are due for rotation.
 */
import type { Clock } from '@strongroom/platform/clock'

/** Fractions are ignored: some runtimes write them incorrectly, some after a colon. */
const TIME =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.:,]\d{1,9})?(?:Z|([+-])(\d\d):?(\d\d))$/

/** Some runtimes write local time as UTC, which explains a time in the future up to this limit. */
const MAX_AHEAD_MS = 24 * 60 * 60 * 1000

/** Whole seconds since a key was created; undefined if the time is invalid or in the future. */
export function ageSeconds(createTime: string, clock: Clock): number | undefined {
  const madeAt = parseTime(createTime)
  if (madeAt === undefined) return undefined
  const age = clock.now() - madeAt
  return age < -MAX_AHEAD_MS ? undefined : Math.max(0, Math.floor(age / 1000))
}

function parseTime(text: string): number | undefined {
  const match = TIME.exec(text)
  if (!match) return undefined
  const [, year, month, day, hours, minutes, seconds, sign, offsetHours = 0, offsetMinutes = 0] =
    match
  // Without a fraction, Date parses it the same way on all platforms.
  const utc = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`)
  if (Number.isNaN(utc)) return undefined
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000
  return sign === '-' ? utc + offset : utc - offset
}
