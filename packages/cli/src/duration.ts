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

/** As it is given, in the largest unit that needs no fraction. */
export function durationText(seconds: number): string {
  const whole = Object.entries(UNITS).filter(([, size]) => seconds >= size && seconds % size === 0)
  const [unit = 's', size = 1] = whole.at(-1) ?? []
  return `${seconds / size}${unit}`
}
