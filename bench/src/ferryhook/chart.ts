// An SVG chart of latency by rate with logarithmic axes, in light or dark mode.

import type { Latency } from './latency.ts'

const WIDTH = 640
const HEIGHT = 320
const LEFT = 64
const RIGHT = 24
const TOP = 40
const BOTTOM = 48

const SERIES = [
  { name: 'p50', of: ({ p50 }: Latency) => p50, colour: '#2f7d5b', dash: 'none' },
  { name: 'p99', of: ({ p99 }: Latency) => p99, colour: '#b4532a', dash: '6 4' },
] as const

export function latencyChart(measured: readonly Latency[], subtitle: string): string {
  const rates = measured.map(({ rate }) => rate)
  const times = measured.flatMap((latency) => SERIES.map(({ of }) => of(latency)))
  const x = logarithmic(Math.min(...rates), Math.max(...rates), LEFT, WIDTH - RIGHT)
  const [low, high] = [powerBelow(Math.min(...times)), powerAbove(Math.max(...times))]
  const y = logarithmic(low, high, HEIGHT - BOTTOM, TOP)

  const lines: string[] = []
  for (let tick = low; tick <= high; tick *= 10) {
    lines.push(
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(tick)}" y2="${y(tick)}"/>`,
      text(LEFT - 8, Number(y(tick)) + 4, `${tick} ms`, 'end'),
    )
  }
  for (const rate of rates) lines.push(text(x(rate), HEIGHT - BOTTOM + 20, String(rate), 'middle'))
  lines.push(text(WIDTH / 2, HEIGHT - 8, 'events each second', 'middle'))
  for (const { name, of, colour, dash } of SERIES) {
    const points = measured.map((latency) => `${x(latency.rate)},${y(of(latency))}`)
    lines.push(
      `<polyline fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}" points="${points.join(' ')}"/>`,
      ...measured.map(
        (latency) =>
          `<circle cx="${x(latency.rate)}" cy="${y(of(latency))}" r="3.5" fill="${colour}"><title>${name} at ${latency.rate}/s: ${of(latency).toFixed(1)} ms</title></circle>`,
      ),
    )
    const last = measured.at(-1)!
    lines.push(text(WIDTH - RIGHT, Number(y(of(last))) - 10, name, 'end', colour))
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Time from ingest to delivery by rate of events">
<style>text{font:12px system-ui,sans-serif;fill:#57606a}.grid{stroke:#8b949e;stroke-opacity:.35}@media(prefers-color-scheme:dark){text{fill:#9da7b1}}</style>
${text(LEFT, 16, 'Ferryhook: from ingest to delivery', 'start')}
${text(LEFT, 30, subtitle, 'start')}
${lines.join('\n')}
</svg>
`
}

function logarithmic(low: number, high: number, from: number, to: number) {
  return (value: number) => {
    const part = Math.log(value / low) / Math.log(high / low)
    return (from + part * (to - from)).toFixed(1)
  }
}

function powerBelow(value: number): number {
  return 10 ** Math.floor(Math.log10(value))
}

function powerAbove(value: number): number {
  return 10 ** Math.ceil(Math.log10(value))
}

function text(
  x: number | string,
  y: number,
  content: string,
  anchor: 'start' | 'middle' | 'end',
  colour?: string,
): string {
  const style = colour === undefined ? '' : ` style="fill:${colour};font-weight:600"`
  return `<text x="${x}" y="${y}" text-anchor="${anchor}"${style}>${content}</text>`
}
