const SECONDS = { s: 1, m: 60, h: 60 * 60, d: 24 * 60 * 60 } as const

/** `90s`, `15m`, `1h` or `7d` in seconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const { count, unit } = /^(?<count>\d{1,8})(?<unit>[smhd])$/.exec(text)?.groups ?? {}
  if (count === undefined || unit === undefined) return undefined
  return Number(count) * SECONDS[unit as keyof typeof SECONDS]
}
