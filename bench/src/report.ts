// Results as text for people.

import { availableParallelism, loadavg } from 'node:os'
import type { Bar, Result } from './result.ts'
import { type Figures, median } from './rounds.ts'

export function machine(): string {
  return `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${availableParallelism()} CPUs`
}

/** A warning if others use the machine too. */
export function busyNote(): string | undefined {
  const [load = 0] = loadavg()
  const cpus = availableParallelism()
  if (load < cpus / 2) return undefined
  return `This machine is busy (load ${load.toFixed(1)} on ${cpus} CPUs): rates will jump, CPU time less so.`
}

export function report({ title, figures, bars, notes }: Result): string {
  const lines = [title, '']
  if (figures.length > 0) lines.push(...figureTable(figures), '')
  if (bars.length > 0) lines.push(...bars.map(barLine), '')
  if (notes.length > 0) lines.push(...notes, '')
  return lines.join('\n')
}

function figureTable(figures: readonly Figures[]): string[] {
  const rows = figures.map(({ target, what, concurrency, rates, cpu }) => [
    `${what} @${concurrency}`,
    target,
    whole(median(rates)),
    whole(Math.max(...rates)),
    (1_000_000 / median(rates)).toFixed(1),
    median(cpu).toFixed(1),
  ])
  return table(['case', 'target', 'calls/s', 'best', 'wall µs/call', 'CPU µs/call'], rows)
}

/** Two columns of text, the rest numbers. */
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

function barLine({ text, required, atMost, exactly, unit, actual, best, cpu, met }: Bar): string {
  const shown = (value: number) => `${value.toFixed(unit === '%' || value >= 100 ? 0 : 1)} ${unit}`
  const detail = [
    best === undefined ? '' : `best rounds ${shown(best)}`,
    cpu === undefined ? '' : `by CPU time ${shown(cpu)}`,
  ].filter((part) => part !== '')
  const verdict = met ? 'met       ' : 'FALLS SHORT'
  const wanted = `${exactly ? 'exactly' : atMost ? 'less than' : 'at least'} ${required} ${unit}`
  return `${verdict} ${text}: ${shown(actual)} (${wanted}${detail.length > 0 ? `; ${detail.join(', ')}` : ''})`
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}

export function summary(results: readonly Result[]): string {
  const bars = results.flatMap((result) => result.bars)
  const short = bars.filter((bar) => !bar.met)
  if (bars.length === 0) return 'These sections have no bars.'
  if (short.length === 0) return `All ${bars.length} bars are met.`
  return `${short.length} of ${bars.length} bars fall short:\n${short.map((bar) => `  ${bar.text}`).join('\n')}`
}
