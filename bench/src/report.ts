// Prints results as text.

import { availableParallelism, loadavg } from 'node:os'
import type { Target, Result } from './result.ts'
import { type Figures, median } from './rounds.ts'

export function machine(): string {
  return `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${availableParallelism()} CPUs`
}

/** A warning if the machine is busy. */
export function busyNote(): string | undefined {
  const [load = 0] = loadavg()
  const cpus = availableParallelism()
  if (load < cpus / 2) return undefined
  return `This machine is busy (load ${load.toFixed(1)} on ${cpus} CPUs): rates vary, CPU time less so.`
}

export function report({ title, figures, targets, notes }: Result): string {
  const lines = [title, '']
  if (figures.length > 0) lines.push(...figureTable(figures), '')
  if (targets.length > 0) lines.push(...targets.map(targetLine), '')
  if (notes.length > 0) lines.push(...notes, '')
  return lines.join('\n')
}

function figureTable(figures: readonly Figures[]): string[] {
  const rows = figures.map(({ system, what, concurrency, rates, cpu }) => [
    `${what} @${concurrency}`,
    system,
    whole(median(rates)),
    whole(Math.max(...rates)),
    (1_000_000 / median(rates)).toFixed(1),
    median(cpu).toFixed(1),
  ])
  return table(['case', 'system', 'calls/s', 'best', 'wall µs/call', 'CPU µs/call'], rows)
}

/** The first two columns are text, the others numbers. */
function table(head: string[], rows: string[][]): string[] {
  const widths = head.map((text, at) =>
    Math.max(text.length, ...rows.map((row) => row[at]!.length)),
  )
  const line = (row: string[]) =>
    row
      .map((text, at) => (at < 2 ? text.padEnd(widths[at]!) : text.padStart(widths[at]!)))
      .join('  ')
      .trimEnd()
  let last = ''
  const shown = rows.map((row) => {
    const [name = '', ...rest] = row
    const repeated = name === last
    last = name
    return line([repeated ? '' : name, ...rest])
  })
  return [line(head), line(widths.map((width) => '─'.repeat(width))), ...shown]
}

function targetLine({
  text,
  required,
  atMost,
  exactly,
  unit,
  actual,
  best,
  cpu,
  met,
}: Target): string {
  const shown = (value: number) => `${value.toFixed(unit === '%' || value >= 100 ? 0 : 1)} ${unit}`
  const detail = [
    best === undefined ? '' : `best rounds ${shown(best)}`,
    cpu === undefined ? '' : `by CPU time ${shown(cpu)}`,
  ].filter((part) => part !== '')
  const verdict = met ? 'met   ' : 'MISSED'
  const wanted = `${exactly ? 'exactly' : atMost ? 'less than' : 'at least'} ${required} ${unit}`
  return `${verdict} ${text}: ${shown(actual)} (${wanted}${detail.length > 0 ? `; ${detail.join(', ')}` : ''})`
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}

export function summary(results: readonly Result[]): string {
  const targets = results.flatMap((result) => result.targets)
  const missed = targets.filter((target) => !target.met)
  if (targets.length === 0) return 'These sections have no targets.'
  if (missed.length === 0) return `All ${targets.length} targets are met.`
  return `${missed.length} of ${targets.length} targets missed:\n${missed.map((target) => `  ${target.text}`).join('\n')}`
}
