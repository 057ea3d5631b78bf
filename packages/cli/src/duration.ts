import { UsageError } from './command.ts'

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** The seconds of a duration such as `30d`, given for an option. */
export function secondsOf(option: string, given: string): number {
  const [, number, unit = ''] = /^(\d{1,7})([smhdw])$/.exec(given) ?? []
  if (number === undefined) {
    throw new UsageError(`--${option} takes a number and one of s, m, h, d, w: such as 30d`)
  }
  return Number(number) * (UNITS[unit] ?? 0)
}
