// Prints results as text.

import { availableParallelism, loadavg } from 'node:os'
import { type Target, type Result, targetsOf } from './result.ts'
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

function targetLine({ text, best, cpu, met, runs = [], ...target }: Target): string {
  const { unit, actual } = target
  const detail = [
    best === undefined ? '' : `best rounds ${quantity(best, unit)}`,
    cpu === undefined ? '' : `by CPU time ${quantity(cpu, unit)}`,
    runs.length < 2 ? '' : `runs ${runs.map((value) => decimals(value)).join(', ')}`,
  ].filter((part) => part !== '')
  const verdict = met ? 'met   ' : 'MISSED'
  const shown = [bound(target), ...detail].join('; ')
  return `${verdict} ${text}: ${quantity(actual, unit)} (${shown})`
}

/** What a target requires. */
export function bound({
  required,
  unit,
  exactly,
  atMost,
}: Pick<Target, 'required' | 'unit' | 'exactly' | 'atMost'>): string {
  return `${exactly ? '=' : atMost ? '≤' : '≥'} ${required.toLocaleString('en')} ${unit}`
}

export function quantity(value: number, unit: Target['unit']): string {
  return `${decimals(value)} ${unit}`
}

/** Three digits, or all before the decimal point. */
function decimals(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return Number.isInteger(value) ? whole(value) : value.toLocaleString('en', fixed(digits))
}

function fixed(digits: number): Intl.NumberFormatOptions {
  return { minimumFractionDigits: digits, maximumFractionDigits: digits }
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}

/** Every target with its result, then how many were missed. */
export function summary(results: readonly Result[]): string {
  const targets = targetsOf(results)
  if (targets.length === 0) return 'These sections have no targets.'
  const missed = targets.filter(({ met }) => !met)
  const verdict =
    missed.length === 0
      ? `All ${targets.length} targets are met.`
      : `${missed.length} of ${targets.length} targets are missed.`
  return ['Targets', '', ...targets.map(targetLine), '', verdict].join('\n')
}
