/**
 * Draws one frame of a chart with uPlot. Loaded when a chart is shown. Text, axes and legend are HTML and
 * belong to `chart.tsx`; here are columns, lines, the cursor and the range that is dragged.
 */
import uPlot from 'uplot'
import type { ChartFrame, ChartTimes } from './chart.tsx'

export interface Plot {
  update(frame: ChartFrame, times: ChartTimes, ticks: readonly number[]): void
  /** Moves the cursor to a point; undefined hides it. */
  setCursor(index: number | undefined): void
  destroy(): void
}

interface PlotEvents {
  /** The pointer is at a point, or left the chart. */
  onPoint(index: number | undefined): void
  /** A range was dragged, or one point was clicked. */
  onRange(firstIndex: number, lastIndex: number): void
}

/** A column with any value is at least this high, in CSS pixels. */
const MIN_COLUMN_PX = 2
const MAX_GAP_PX = 2

export function createPlot(host: HTMLElement, events: PlotEvents): Plot {
  let state: { frame: ChartFrame; times: ChartTimes; ticks: readonly number[] } | undefined
  let plot: uPlot | undefined
  let cursorIndex: number | undefined
  const probe = document.createElement('span')
  probe.hidden = true
  host.append(probe)

  /** Resolves a token to a colour that a canvas understands, in the current theme. */
  function color(value: string): string {
    probe.style.color = value
    return getComputedStyle(probe).color
  }

  function build(): void {
    plot?.destroy()
    plot = undefined
    if (!state || host.clientWidth === 0) return
    const { frame, times, ticks } = state
    const { starts, endsAt } = times
    const middles = starts.map((start, index) => (start + (starts[index + 1] ?? endsAt)) / 2)
    const isLines = frame.kind === 'lines'
    const data: uPlot.AlignedData = [
      middles,
      ...frame.series.map(({ values }) => [...values] as (number | null)[]),
    ]
    plot = new uPlot(
      {
        width: host.clientWidth,
        height: host.clientHeight,
        padding: [0, 0, 0, 0],
        legend: { show: false },
        axes: [{ show: false }, { show: false }],
        scales: {
          x: { time: false, range: () => [starts[0] ?? 0, endsAt] },
          y: { range: () => [0, ticks.at(-1) ?? 1] },
        },
        series: [
          {},
          ...frame.series.map(({ color: token, isDashed }) => ({
            stroke: () => color(`var(--${token})`),
            width: 1.75,
            ...(isDashed && { dash: [5, 3] }),
            points: { show: isLines, size: 5, filter: isolatedPoints },
            ...(!isLines && { paths: () => null }),
          })),
        ],
        ...(isLines &&
          frame.hasBand && {
            bands: [
              {
                series: [2, 1] as [number, number],
                fill: () =>
                  color(
                    `color-mix(in srgb, var(--${frame.series[1]?.color ?? 'line-b'}) 10%, transparent)`,
                  ),
              },
            ],
          }),
        cursor: {
          y: false,
          points: { show: false },
          drag: { x: true, y: false, setScale: false, dist: 4 },
        },
        hooks: {
          drawClear: [drawGrid],
          ...(!isLines && { draw: [drawColumns] }),
          setCursor: [followPointer],
          setSelect: [endDrag],
        },
      },
      data,
      host,
    )
    plot.over.addEventListener('click', click)
    showCursor()
  }

  function drawGrid(u: uPlot): void {
    const { ctx, bbox } = u
    ctx.save()
    ctx.lineWidth = Math.max(1, Math.round(devicePixelRatio))
    for (const tick of state?.ticks ?? []) {
      const y = Math.round(u.valToPos(tick, 'y', true))
      ctx.strokeStyle = color(tick === 0 ? 'var(--line-strong)' : 'var(--grid)')
      ctx.beginPath()
      // Half a line above the edge, so that the first and the last line are whole.
      const inside = Math.min(Math.max(y, ctx.lineWidth / 2), bbox.height - ctx.lineWidth / 2)
      ctx.moveTo(bbox.left, inside)
      ctx.lineTo(bbox.left + bbox.width, inside)
      ctx.stroke()
    }
    ctx.restore()
  }

  /** Stacked in the order of the series, from the bottom. */
  function drawColumns(u: uPlot): void {
    if (!state) return
    const { frame, times } = state
    const { ctx } = u
    const base = u.valToPos(0, 'y', true)
    const scale = devicePixelRatio
    const colors = frame.series.map(({ color: token, edge }) => ({
      fill: color(`var(--${token})`),
      edge: edge === undefined ? undefined : color(`var(--${edge})`),
    }))
    ctx.save()
    for (const [index, start] of times.starts.entries()) {
      const left = u.valToPos(start, 'x', true)
      const right = u.valToPos(times.starts[index + 1] ?? times.endsAt, 'x', true)
      const gap = Math.min(MAX_GAP_PX * scale, (right - left) * 0.2)
      const [x, width] = [left + gap / 2, Math.max(1, right - left - gap)]
      let top = base
      for (const [number, { values }] of frame.series.entries()) {
        const value = values[index] ?? 0
        if (value <= 0) continue
        const height = Math.max(base - u.valToPos(value, 'y', true), MIN_COLUMN_PX * scale)
        top -= height
        ctx.fillStyle = colors[number]?.fill ?? 'gray'
        ctx.fillRect(x, top, width, height)
        const edge = colors[number]?.edge
        if (edge === undefined) continue
        ctx.fillStyle = edge
        ctx.fillRect(x, top, width, Math.min(height, 1.5 * scale))
      }
    }
    ctx.restore()
  }

  let isFollowing = false
  function followPointer(u: uPlot): void {
    if (isFollowing) return
    const { left = -1 } = u.cursor
    events.onPoint(left < 0 ? undefined : indexAt(u, left))
  }

  function indexAt(u: uPlot, left: number): number | undefined {
    const at = u.posToVal(left, 'x')
    const { starts = [] } = state?.times ?? {}
    const index = starts.findLastIndex((start) => start <= at)
    return index < 0 ? undefined : index
  }

  let dragEndedAt = 0
  function endDrag(u: uPlot): void {
    const { left, width } = u.select
    if (width <= 0) return
    dragEndedAt = performance.now()
    const [first, last] = [indexAt(u, left), indexAt(u, left + width - 1)]
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
    if (first !== undefined && last !== undefined) events.onRange(first, last)
  }

  function click(event: MouseEvent): void {
    // The end of a drag is a click as well.
    if (!plot || event.timeStamp - dragEndedAt < 100) return
    const index = indexAt(plot, event.clientX - plot.over.getBoundingClientRect().left)
    if (index !== undefined) events.onRange(index, index)
  }

  function showCursor(): void {
    if (!plot || !state) return
    const { starts, endsAt } = state.times
    const start = cursorIndex === undefined ? undefined : starts[cursorIndex]
    const middle =
      start === undefined ? undefined : (start + (starts[(cursorIndex ?? 0) + 1] ?? endsAt)) / 2
    isFollowing = true
    plot.setCursor({ left: middle === undefined ? -10 : plot.valToPos(middle, 'x'), top: 0 }, false)
    isFollowing = false
  }

  const resized = new ResizeObserver(() => {
    if (!plot) build()
    else plot.setSize({ width: host.clientWidth, height: host.clientHeight })
  })
  resized.observe(host)
  const redraw = () => plot?.redraw(true)
  const dark = matchMedia('(prefers-color-scheme: dark)')
  dark.addEventListener('change', redraw)
  const themed = new MutationObserver(redraw)
  themed.observe(document.documentElement, { attributeFilter: ['data-theme'] })

  return {
    update(frame, times, ticks) {
      state = { frame, times, ticks }
      build()
    },
    setCursor(index) {
      cursorIndex = index
      showCursor()
    },
    destroy() {
      resized.disconnect()
      themed.disconnect()
      dark.removeEventListener('change', redraw)
      plot?.destroy()
      probe.remove()
    },
  }
}

/** Points between two gaps, of which a line would show nothing. */
function isolatedPoints(u: uPlot, seriesIndex: number): number[] {
  const values = u.data[seriesIndex] ?? []
  const isKnown = (index: number) => values[index] !== null && values[index] !== undefined
  return Array.from({ length: values.length }, (_, index) => index).filter(
    (index) => isKnown(index) && !isKnown(index - 1) && !isKnown(index + 1),
  )
}
