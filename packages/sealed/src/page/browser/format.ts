/** Numbers, durations and times in the current language. */
import { currentLocale } from './language.ts'

export const UNITS = { minute: 60, hour: 3600, day: 86_400 } as const
export type Unit = keyof typeof UNITS

export function formatNumber(value: number): string {
  return new Intl.NumberFormat(currentLocale()).format(value)
}

/** `15 minutes`, in the largest unit without a remainder. */
export function formatDuration(seconds: number): string {
  const unit = (['day', 'hour', 'minute'] as const).find((name) => seconds % UNITS[name] === 0)
  return unit ? formatUnit(seconds / UNITS[unit], unit) : formatUnit(seconds, 'second')
}

/** The name of a unit for this amount: `minutes`. */
export function unitName(amount: number, unit: Unit): string {
  const parts = unitFormat(unit).formatToParts(amount)
  return parts.find(({ type }) => type === 'unit')?.value ?? unit
}

export function formatTime(at: Date): string {
  const format = new Intl.DateTimeFormat(currentLocale(), {
    dateStyle: 'long',
    timeStyle: 'short',
  })
  return format.format(at)
}

function formatUnit(amount: number, unit: Unit | 'second'): string {
  return unitFormat(unit).format(amount)
}

function unitFormat(unit: Unit | 'second') {
  return new Intl.NumberFormat(currentLocale(), { style: 'unit', unit, unitDisplay: 'long' })
}
