/** Formats and prints the output of commands. */
import { usageError } from './command.ts'

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

export function formatAge(seconds: number | null): string {
  if (seconds === null) return 'unknown'
  const [name, size] = UNITS.find(([, each]) => seconds >= each) ?? UNITS[3]
  return pluralize(Math.floor(seconds / size), name)
}

export function pluralize(number: number, what: string, several = `${what}s`): string {
  return `${number} ${number === 1 ? what : several}`
}

/** Escapes characters of untrusted text that could move the cursor or hide text. */
export function escapeControls(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\u{${code.toString(16)}}`
  })
}

/** Aligns columns, without trailing spaces. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0))
  return rows.map((row) => `${line(row).join('  ').trimEnd()}\n`).join('')
}

/** A relative time, such as `2 minutes ago` or `in 25 seconds`. */
export function formatRelative(iso: string, now: number): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000)
  if (seconds === 0) return 'now'
  return seconds > 0 ? `in ${formatAge(seconds)}` : `${formatAge(-seconds)} ago`
}

/** Characters that terminals interpret, except tabs and line ends. */
const TERMINAL_CONTROLS =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\r(?!\n)/gu

export function escapeForTerminal(text: string): { shown: string; isExact: boolean } {
  const shown = text.replace(TERMINAL_CONTROLS, symbolOf)
  return { shown, isExact: shown === text }
}

function symbolOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  return code === 0x7f ? '\u2421' : `<${code.toString(16).padStart(4, '0')}>`
}

// The writer reports a failed write. An error event without a listener would crash the process.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

let hasFailed = false

export function writeResult(text: string): void {
  process.stdout.write(text, (error) => {
    if (!error || hasFailed) return
    hasFailed = true
    const code = 'code' in error ? String(error.code) : error.name
    // The reader closed the pipe, as `head` does: end gracefully.
    if (code === 'EPIPE') return void process.emit('SIGTERM', 'SIGTERM')
    process.stderr.write(
      `Cannot write to standard output (${code}): free some space, or redirect it\n`,
    )
    // The result was not seen, so the command failed.
    process.once('exit', () => (process.exitCode ||= 1))
  })
}

const UNIT_SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
}

/** Parses a duration option such as `30d` into seconds. */
export function parseDuration(option: string, given: string): number {
  const [, number, unit = ''] = /^(\d{1,7})([smhdw])$/.exec(given) ?? []
  if (number === undefined) {
    throw usageError(`--${option} takes a number and one of s, m, h, d, w: such as 30d`)
  }
  return Number(number) * (UNIT_SECONDS[unit] ?? 0)
}

/** The inverse: in the largest unit without a fraction. */
export function formatDuration(seconds: number): string {
  const whole = Object.entries(UNIT_SECONDS).filter(
    ([, size]) => seconds >= size && seconds % size === 0,
  )
  const [unit = 's', size = 1] = whole.at(-1) ?? []
  return `${seconds / size}${unit}`
}
