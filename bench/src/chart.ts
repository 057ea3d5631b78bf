// An SVG chart of the figures of a section: a group per case and a bar per system. It has a background of
// its own, so that it is readable on light and dark pages.

import { whole } from './report.ts'
import type { Chart } from './result.ts'
import { type Figures, median } from './rounds.ts'

const WIDTH = 860
const LEFT = 230
const RIGHT = 80
const BAR = 16
const GAP = 18
const TOP = 64
/** Readable on both backgrounds; the first is ours. */
const COLORS = ['#1f9d6b', '#87919d', '#3b82ab', '#c98a2b', '#c0583c', '#8a78b5', '#5fc79a']

const STYLE =
  '.page{fill:#ffffff}text{font-family:system-ui,sans-serif;fill:#1f2937}.grid{stroke:#8b949e;stroke-opacity:.35}' +
  '@media(prefers-color-scheme:dark){.page{fill:#0d1117}text{fill:#d1d7de}}'

interface Bar {
  what: string
  system: string
  value: number
}

export function drawChart(
  { title, value, scale, concurrency }: Chart,
  figures: readonly Figures[],
) {
  const bars = figures
    .filter((found) => concurrency === undefined || found.concurrency === concurrency)
    .map(({ what, system, rates, cpu }) => ({
      what,
      system,
      value: value === 'calls/s' ? median(rates) : 1_000_000 / median(cpu),
    }))
  const systems = [...new Set(bars.map(({ system }) => system))]
  const axis = scale === 'linear' ? linearAxis(bars) : logarithmicAxis(bars)
  const parts: string[] = []
  let y = TOP
  for (const what of new Set(bars.map((bar) => bar.what))) {
    const group = bars.filter((bar) => bar.what === what)
    parts.push(text(LEFT - 10, y + (group.length * BAR) / 2 + 3, what, { anchor: 'end' }))
    for (const bar of group) {
      const color = colorOf(systems.indexOf(bar.system))
      const end = axis.x(bar.value)
      parts.push(
        `<rect x="${LEFT}" y="${y}" width="${Math.max(1, end - LEFT).toFixed(1)}" height="${BAR - 3}" rx="2" fill="${color}"><title>${escaped(bar.system)}, ${escaped(what)}: ${whole(bar.value)} ${value}</title></rect>`,
        text(end + 5, y + BAR - 5, whole(bar.value), { size: 11 }),
      )
      y += BAR
    }
    y += GAP
  }
  const lines = axis.ticks.map((tick) => {
    const x = axis.x(tick).toFixed(1)
    return `<line class="grid" x1="${x}" y1="${TOP - 6}" x2="${x}" y2="${y - GAP}"/>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-label="${escaped(title)}">`,
    `<style>${STYLE}</style>`,
    `<rect class="page" width="${WIDTH}" height="${y}" rx="6"/>`,
    text(14, 24, `${title}; ${value}`, { size: 14, weight: 600 }),
    ...legend(systems),
    ...lines,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function linearAxis(bars: readonly Bar[]) {
  const highest = Math.max(...bars.map(({ value }) => value))
  const step = 10 ** Math.floor(Math.log10(highest))
  const ticks = Array.from({ length: Math.floor(highest / step) }, (_, n) => (n + 1) * step)
  return { ticks, x: (value: number) => LEFT + ((WIDTH - LEFT - RIGHT) * value) / highest }
}

function logarithmicAxis(bars: readonly Bar[]) {
  const values = bars.map(({ value }) => value)
  const lowest = 10 ** Math.floor(Math.log10(Math.min(...values)))
  const highest = 10 ** Math.ceil(Math.log10(Math.max(...values)))
  const width = (WIDTH - LEFT - RIGHT) / Math.log10(highest / lowest)
  const ticks: number[] = []
  for (let tick = lowest; tick <= highest; tick *= 10) ticks.push(tick)
  return { ticks, x: (value: number) => LEFT + width * Math.log10(value / lowest) }
}

function legend(systems: readonly string[]): string[] {
  const width = (WIDTH - LEFT) / systems.length
  return systems.flatMap((system, at) => {
    const x = LEFT + at * Math.min(width, 180)
    return [
      `<rect x="${x}" y="38" width="11" height="11" rx="2" fill="${colorOf(at)}"/>`,
      text(x + 16, 48, system, { size: 12 }),
    ]
  })
}

function colorOf(index: number): string {
  return COLORS[index % COLORS.length]!
}

interface TextOptions {
  anchor?: 'start' | 'end'
  size?: number
  weight?: number
}

function text(
  x: number,
  y: number,
  content: string,
  { anchor = 'start', size = 12, weight = 400 }: TextOptions,
): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}">${escaped(content)}</text>`
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
