/** What people read: ages, counts, columns. */
const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

export function ageText(seconds: number | null): string {
  if (seconds === null) return 'unknown'
  const [name, size] = UNITS.find(([, each]) => seconds >= each) ?? UNITS[3]
  return counted(Math.floor(seconds / size), name)
}

export function counted(number: number, what: string, several = `${what}s`): string {
  return `${number} ${number === 1 ? what : several}`
}

/** A text of somebody else's may hold anything: what would move the cursor or hide text is shown by its code. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\u{${code.toString(16)}}`
  })
}

/** Aligned, without spaces at the end. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0))
  return rows.map((row) => `${line(row).join('  ').trimEnd()}\n`).join('')
}

/** A time as people say it, such as `2 minutes ago` or `in 25 seconds`. */
export function relative(iso: string, now: number): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000)
  if (seconds === 0) return 'now'
  return seconds > 0 ? `in ${ageText(seconds)}` : `${ageText(-seconds)} ago`
}
