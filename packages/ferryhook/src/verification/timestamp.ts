/** When a request was signed, and whether that is near enough to now. */
import * as z from 'zod'
import { accepted, refused, type Verdict } from './verdict.ts'

/** Milliseconds from Unix seconds, Unix milliseconds or ISO 8601 in UTC. */
export function timeOf(text: string): number | undefined {
  if (/^\d{1,11}$/.test(text)) return Number(text) * 1000
  if (/^\d{12,14}$/.test(text)) return Number(text)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(text)) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

/** Both ways: a signature from the future could be kept and sent when its time has come. */
export function judgeAge(signedAt: number, now: number, toleranceSeconds: number): Verdict {
  const age = now - signedAt
  if (age > toleranceSeconds * 1000) return refused('too_old')
  if (age < -toleranceSeconds * 1000) return refused('too_new')
  return accepted
}

const outOfRange = 'Give the tolerance in whole seconds, from 1 to 604800'

/** The option of schemes that sign a time. */
export const tolerance = z
  .number(outOfRange)
  .int(outOfRange)
  .min(1, outOfRange)
  .max(604_800, outOfRange)

/** As most providers' own libraries have it. */
export const usualTolerance = 300
