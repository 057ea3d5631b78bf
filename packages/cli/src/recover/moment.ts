/** The moment to recover, and the names of tables that are made from it. */
import { usageError } from '../command.ts'
import { parseDuration } from '../output.ts'

/** With a time zone, because servers and people are often in different ones. */
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/

/** Milliseconds since the epoch. */
export function parseMoment(given: unknown, now: number): number {
  const text = typeof given === 'string' ? given : ''
  if (/^\d+[smhdw]$/.test(text)) return now - parseDuration('at', text) * 1000
  const time = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) {
    throw usageError(
      '--at takes a time with its zone, such as 2030-01-31T14:05:00Z, or how long ago, such as 15m',
    )
  }
  if (time > now) throw usageError('--at is in the future: pass a time that has passed')
  return time
}

export function recoveredName(table: string, at: number): string {
  return `${table}-recovered-${stamp(at)}`
}

/** The name of a table that another one has replaced. */
export function safetyCopyName(table: string, now: number): string {
  return `${table}-before-${stamp(now)}`
}

/** The table of which the name is derived; undefined for any other name. */
export function originalName(name: string): string | undefined {
  return /^(.+)-(?:recovered|before)-\d{8}T\d{6}(?:\.\d{3})?Z$/.exec(name)?.[1]
}

/** `20300131T140500Z`: sorts by time and is allowed in the name of a table. */
function stamp(time: number): string {
  return new Date(time).toISOString().replaceAll(/[-:]/g, '').replace('.000Z', 'Z')
}
