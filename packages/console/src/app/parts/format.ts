/** Numbers, durations, sizes and times as people read them. */
import { signal } from '@preact/signals'

const grouped = new Intl.NumberFormat('en')

export function formatNumber(value: number): string {
  return grouped.format(value)
}

/** A share from 0 to 1: `99.88 %`. */
export function formatPercent(share: number, digits = 2): string {
  const value = Math.floor(share * 100 * 10 ** digits) / 10 ** digits
  return `${new Intl.NumberFormat('en', { maximumFractionDigits: digits }).format(value)} %`
}

/** `84 ms`, `1.4 s`, `13 min`, `2 h`, `6 days`. */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (seconds < 60) return `${seconds < 10 ? trim(seconds.toFixed(1)) : Math.round(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h`
  return `${formatNumber(Math.floor(hours / 24))} days`
}

const SIZES = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** `612 B`, `4.1 KB`, `20.6 GB`; 1 KB is 1,000 B. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return `${power === 0 ? value : trim(value.toFixed(1))} ${SIZES[power]}`
}

/** `38.2/s`. */
export function formatRate(perSecond: number): string {
  if (perSecond > 0 && perSecond < 0.1) return `${trim((perSecond * 60).toFixed(1))}/min`
  return `${perSecond < 100 ? trim(perSecond.toFixed(1)) : formatNumber(Math.round(perSecond))}/s`
}

function trim(text: string): string {
  return text.replace(/\.0$/, '')
}

/** Singular or plural: `1 event`, `2 events`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`
}

/** Whether times are shown in UTC instead of the zone of the browser. */
export const isUtc = signal(readSetting('utc') === '1')

/** Whether lists show exact times. */
export const isExact = signal(false)

/** Now, to the second while the page is visible; relative times follow it. */
export const now = signal(Date.now())

setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now()
}, 1000)

/** `4 min`, for times in the past and in the future. */
export function formatRelative(time: number, at: number): string {
  const ms = Math.abs(at - time)
  return ms < 1000 ? 'now' : formatDuration(Math.floor(ms / 1000) * 1000)
}

function parts(time: number, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-GB', {
    ...options,
    ...(isUtc.value && { timeZone: 'UTC' }),
  }).format(time)
}

/** `12:04:31.218 UTC`, with the day unless it is today. */
export function formatExact(time: number, { withMs = true, withZone = true } = {}): string {
  const clock = parts(time, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    ...(withMs && { fractionalSecondDigits: 3 as const }),
    ...(withZone && { timeZoneName: 'short' as const }),
  })
  return formatDay(time) === formatDay(Date.now()) ? clock : `${formatDay(time)}, ${clock}`
}

/** `12:04`. */
export function formatClock(time: number): string {
  return parts(time, { hour: '2-digit', minute: '2-digit' })
}

/** `17 Nov`, with the year if it is another one. */
export function formatDay(time: number): string {
  const year = (at: number) => parts(at, { year: 'numeric' })
  const isThisYear = year(time) === year(Date.now())
  return parts(time, { day: 'numeric', month: 'short', ...(!isThisYear && { year: 'numeric' }) })
}

/** Cut in the middle: `site_T7kQ…z9Ra`. */
export function shortId(id: string, characters = 14): string {
  return id.length <= characters ? id : `${id.slice(0, characters - 5)}…${id.slice(-4)}`
}

/** Preferences of this browser; never anything secret. */
export function readSetting(name: string): string | undefined {
  try {
    return localStorage.getItem(`strongroom-${name}`) ?? undefined
  } catch {
    return undefined
  }
}

export function writeSetting(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`strongroom-${name}`)
    else localStorage.setItem(`strongroom-${name}`, value)
  } catch {
    // Storage is disabled: the preference lasts as long as the page.
  }
}
