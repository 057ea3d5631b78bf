// An SVG chart of the calls per second of each system: a group per case and a bar per system, on a
// logarithmic scale because they are orders of magnitude apart.

import { type Figures, median } from './rounds.ts'

const WIDTH = 860
const LEFT = 170
const RIGHT = 70
const BAR = 13
const GAP = 18
const TOP = 58
const COLORS = ['#0b6e4f', '#2aa876', '#8fd3b6', '#c08a2d', '#b5543a', '#7a6a9b', '#6b7280']

export function chart(title: string, figures: readonly Figures[], concurrency: number): string {
  const shown = figures.filter((found) => found.concurrency === concurrency)
  const cases = [...new Set(shown.map(({ what }) => what))]
  const systems = [...new Set(shown.map(({ system }) => system))]
  const rates = shown.map((found) => median(found.rates))
  const lowest = 10 ** Math.floor(Math.log10(Math.min(...rates)))
  const highest = 10 ** Math.ceil(Math.log10(Math.max(...rates)))
  const scale = (WIDTH - LEFT - RIGHT) / Math.log10(highest / lowest)
  const x = (rate: number) => LEFT + scale * Math.log10(rate / lowest)

  const parts: string[] = []
  let y = TOP
  for (const what of cases) {
    const bars = shown.filter((found) => found.what === what)
    const middle = y + (bars.length * BAR) / 2 + 4
    parts.push(text(LEFT - 10, middle, what, 'end'))
    for (const found of bars) {
      const rate = median(found.rates)
      const color = COLORS[systems.indexOf(found.system) % COLORS.length]!
      const width = Math.max(1, x(rate) - LEFT).toFixed(1)
      parts.push(
        `<rect x="${LEFT}" y="${y}" width="${width}" height="${BAR - 2}" fill="${color}"><title>${escaped(found.system)}, ${escaped(what)}: ${whole(rate)} calls/s</title></rect>`,
        text(x(rate) + 4, y + BAR - 4, whole(rate), 'start', 10),
      )
      y += BAR
    }
    y += GAP
  }
  const lines = decades(lowest, highest).map(
    (rate) =>
      `<line x1="${x(rate).toFixed(1)}" y1="${TOP - 6}" x2="${x(rate).toFixed(1)}" y2="${y - GAP}" stroke="#9ca3af" stroke-opacity="0.4"/>`,
  )
  const legend = systems.map((system, at) => {
    const left = LEFT + (at * (WIDTH - LEFT)) / systems.length
    const color = COLORS[at % COLORS.length]!
    return `<rect x="${left}" y="30" width="10" height="10" fill="${color}"/>${text(left + 14, 39, system, 'start', 11)}`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" font-family="system-ui, sans-serif" role="img" aria-label="${escaped(title)}">`,
    `<rect width="${WIDTH}" height="${y}" fill="#ffffff"/>`,
    text(10, 18, title, 'start', 14),
    ...legend,
    ...lines,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function decades(lowest: number, highest: number): number[] {
  const all: number[] = []
  for (let rate = lowest; rate <= highest; rate *= 10) all.push(rate)
  return all
}

function text(x: number, y: number, content: string, anchor: 'start' | 'end', size = 12): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}" fill="#1f2937" text-anchor="${anchor}">${escaped(content)}</text>`
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}
