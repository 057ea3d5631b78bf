/**
 * Charts over time: a panel with title, legend, one or more frames on the same time axis, and the same
 * figures as a table. One cursor moves through all charts of the page.
 */
import { signal, useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { Plot } from './chart-plot.ts'
import { timeTicks, type Unit, valueTicks } from './chart-scale.ts'
import {
  formatBytes,
  formatClock,
  formatDay,
  formatDuration,
  formatNumber,
  formatPercent,
  isUtc,
} from './format.ts'

export interface ChartSeries {
  /** "Delivered". */
  name: string
  /** The name of a colour token: `ok-area`, `bad-mark`, `line-a`, `step-1`. */
  color: string
  /** The token of a darker upper edge, for columns in a light colour. */
  edge?: string
  /** One for each point; null where nothing is known. */
  values: readonly (number | null)[]
  /** In the legend; defaults to the sum. */
  total?: string | undefined
  /** Where the legend leads, such as the events behind the total. */
  href?: string | undefined
  isDashed?: boolean
}

export interface ChartFrame {
  /** Stacked columns for volume, lines for what is not a sum. */
  kind: 'columns' | 'lines'
  /** From the bottom of a column to its top. */
  series: readonly ChartSeries[]
  unit?: Unit
  /** Of a frame below the first: "Problems, on their own scale". */
  title?: string
  height?: 'low' | 'normal' | 'tall'
  /** A band between the first two lines. */
  hasBand?: boolean
}

export interface ChartTimes {
  /** The start of each point in milliseconds, ascending. */
  starts: readonly number[]
  /** The end of the last point. */
  endsAt: number
}

const RETRY_MS = 2_000

/** Fewer points are shown as a table. */
const MIN_POINTS = 5

/** The time that the cursor of all charts is at. */
const cursorAt = signal<number | undefined>(undefined)

const formats: Readonly<Record<Unit, (value: number) => string>> = {
  count: formatNumber,
  ms: formatDuration,
  share: (value) => formatPercent(value),
  bytes: formatBytes,
}

function formatValue(value: number | null | undefined, unit: Unit = 'count'): string {
  return value === null || value === undefined ? '–' : formats[unit](value)
}

export function ChartPanel(props: {
  title: string
  times: ChartTimes
  frames: readonly ChartFrame[]
  /** Beside "Show as table": "One hour in each column. Choose one to see its events." */
  note?: ComponentChildren
  /** Called with the range of time that was dragged, or of the point that was chosen. */
  onRange?: (from: number, to: number) => void
}) {
  const { title, times, frames, note } = props
  const id = useId()
  const isTable = useSignal(false)
  const isTooShort = times.starts.length < MIN_POINTS
  const [first] = frames
  return (
    <section class="panel chart-panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
        <span class="push" />
        {first && <Legend frame={first} />}
      </div>
      {isTable.value || isTooShort ? (
        <ChartTable title={title} times={times} frames={frames} />
      ) : (
        <div class="panel-body">
          <Chart {...props} />
        </div>
      )}
      <div class="panel-foot">
        <span>{note}</span>
        {!isTooShort && (
          <button
            class="link-button push"
            type="button"
            aria-pressed={isTable.value}
            onClick={() => (isTable.value = !isTable.value)}
          >
            {isTable.value ? 'Show as chart' : 'Show as table'}
          </button>
        )}
      </div>
    </section>
  )
}

function Chart(props: {
  title: string
  times: ChartTimes
  frames: readonly ChartFrame[]
  onRange?: (from: number, to: number) => void
}) {
  const { title, times, frames, onRange } = props
  const { starts } = times
  const index = indexAt(times, cursorAt.value)
  const endOf = (at: number) => starts[at + 1] ?? times.endsAt
  const choose = (from: number, to: number) => {
    const start = starts[from]
    if (start !== undefined) onRange?.(start, endOf(to))
  }
  const moveTo = (to: number | undefined) => {
    cursorAt.value =
      to === undefined ? undefined : starts[Math.min(Math.max(to, 0), starts.length - 1)]
  }
  useEffect(() => () => moveTo(undefined), [])

  const onKeyDown = (event: KeyboardEvent) => {
    const last = starts.length - 1
    const targets: Record<string, number | undefined> = {
      ArrowLeft: (index ?? last + 1) - 1,
      ArrowRight: (index ?? -1) + 1,
      Home: 0,
      End: last,
    }
    if (event.key in targets) moveTo(targets[event.key])
    else if (event.key === 'Escape' && index !== undefined) moveTo(undefined)
    else if (event.key === 'Enter' && index !== undefined) choose(index, index)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  const shown = index ?? starts.length - 1
  const slider = {
    role: 'slider',
    tabIndex: 0,
    'aria-label': `${title}: move through time with the arrow keys`,
    'aria-valuemin': 0,
    'aria-valuemax': starts.length - 1,
    'aria-valuenow': shown,
    'aria-valuetext': describe(times, frames, shown),
    onKeyDown,
    onBlur: () => moveTo(undefined),
  } as const
  return (
    <div class="chart-box">
      {frames.map((frame, number) => (
        <Frame
          key={number}
          frame={frame}
          times={times}
          slider={number === 0 ? slider : undefined}
          hasTimes={number === frames.length - 1}
          cursor={index}
          onPoint={moveTo}
          onRange={choose}
          isChoosable={onRange !== undefined}
        />
      ))}
      {index !== undefined && <Tip times={times} frames={frames} index={index} />}
    </div>
  )
}

function Frame(props: {
  frame: ChartFrame
  times: ChartTimes
  /** Of the first frame: takes the focus and the keys. */
  slider: JSX.IntrinsicElements['div'] | undefined
  hasTimes: boolean
  cursor: number | undefined
  onPoint: (index: number | undefined) => void
  onRange: (first: number, last: number) => void
  isChoosable: boolean
}) {
  const { frame, times, cursor } = props
  const { unit = 'count', height = 'normal' } = frame
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<Plot | undefined>(undefined)
  const callbacks = useRef(props)
  callbacks.current = props
  const ticks = valueTicks(maxOf(frame), unit)

  useEffect(() => {
    let isGone = false
    let retry: ReturnType<typeof setTimeout> | undefined
    const start = async () => {
      const loaded = await import('./chart-plot.ts').catch(() => undefined)
      if (!loaded) {
        // The server restarts or the connection is lost: the frame stays empty until then.
        if (!isGone) retry = setTimeout(() => void start(), RETRY_MS)
        return
      }
      const { createPlot } = loaded
      if (isGone || !host.current) return
      const created = createPlot(host.current, {
        onPoint: (index) => callbacks.current.onPoint(index),
        onRange: (from, to) => callbacks.current.onRange(from, to),
      })
      plot.current = created
      const { frame: current, times: at, cursor: shown } = callbacks.current
      created.update(current, at, valueTicks(maxOf(current), current.unit ?? 'count'))
      created.setCursor(shown)
    }
    void start()
    return () => {
      isGone = true
      clearTimeout(retry)
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [])
  const key = JSON.stringify([frame, times])
  useEffect(() => plot.current?.update(frame, times, ticks), [key])
  useEffect(() => plot.current?.setCursor(cursor), [cursor])

  const look = { low: ' chart-low', normal: '', tall: ' chart-tall' }[height]
  return (
    <>
      {!props.slider && frame.title !== undefined && (
        <div class="chart-mid">
          <h3>{frame.title}</h3>
          <span class="push" />
          <Legend frame={frame} />
        </div>
      )}
      <div class="chart">
        <div class="chart-y" aria-hidden="true">
          {ticks.toReversed().map((tick) => (
            <span key={tick}>{tick === 0 ? '0' : formatValue(tick, unit)}</span>
          ))}
        </div>
        <div
          class={`chart-plot${look}${props.isChoosable ? ' is-choosable' : ''}`}
          ref={host}
          {...(props.slider ?? { 'aria-hidden': true })}
        />
        {props.hasTimes && <TimeAxis times={times} />}
      </div>
    </>
  )
}

const DAY_MS = 86_400_000
const MAX_DAY_LABELS = 10

/** Days are those of UTC, as the services count them; their labels are below the middle of a column. */
function labelsOf({ starts, endsAt }: ChartTimes): { at: number; text: string }[] {
  const from = starts[0] ?? 0
  if (isDaily({ starts, endsAt })) {
    const step = Math.ceil(starts.length / MAX_DAY_LABELS)
    return starts
      .filter((_, index) => index % step === 0)
      .map((start) => ({ at: start + DAY_MS / 2, text: formatUtcDay(start) }))
  }
  const offset = isUtc.value ? 0 : -new Date(endsAt).getTimezoneOffset() * 60_000
  const format = endsAt - from > 3 * DAY_MS ? formatDay : formatClock
  return timeTicks(from, endsAt, offset).map((at) => ({ at, text: format(at) }))
}

function isDaily({ starts, endsAt }: ChartTimes): boolean {
  const [first = 0, second = endsAt] = starts
  return second - first === DAY_MS && first % DAY_MS === 0
}

const utcDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const formatUtcDay = (at: number) => utcDay.format(at)

function TimeAxis({ times }: { times: ChartTimes }) {
  const from = times.starts[0] ?? 0
  return (
    <div class="chart-x" aria-hidden="true">
      {labelsOf(times).map(({ at, text }, index) => {
        const share = (at - from) / (times.endsAt - from)
        // At the left there is room below the labels of the values.
        const edge = share > 0.97 ? 'is-end' : ''
        return (
          <span
            key={at}
            class={index % 2 === 1 ? `hide-small ${edge}` : edge}
            // A custom property, because the position is data.
            style={{ '--at': `${share * 100}%` }}
          >
            {text}
          </span>
        )
      })}
    </div>
  )
}

function Tip({
  times,
  frames,
  index,
}: {
  times: ChartTimes
  frames: readonly ChartFrame[]
  index: number
}) {
  const { starts, endsAt } = times
  const share = ((starts[index] ?? 0) - (starts[0] ?? 0)) / (endsAt - (starts[0] ?? 0))
  return (
    <div
      class={share > 0.5 ? 'chart-tip is-left' : 'chart-tip'}
      aria-hidden="true"
      style={{ '--at': String(share) }}
    >
      <b>{formatPoint(times, index)}</b>
      {frames.flatMap((frame) =>
        frame.series
          .filter(({ values }) => frame.kind === 'lines' || (values[index] ?? 0) > 0)
          .map(({ name, values }) => (
            <span key={name}>
              {frame.kind === 'lines'
                ? `${name} ${formatValue(values[index], frame.unit)}`
                : `${formatValue(values[index], frame.unit)} ${name.toLowerCase()}`}
            </span>
          )),
      )}
    </div>
  )
}

function Legend({ frame }: { frame: ChartFrame }) {
  return (
    <div class="legend">
      {frame.series.map((series) => {
        const { name, href } = series
        const content = (
          <>
            {frame.kind === 'lines' ? <LineSwatch series={series} /> : <Swatch series={series} />}
            {name} <b>{series.total ?? formatValue(sum(series.values), frame.unit)}</b>
          </>
        )
        return href === undefined ? (
          <span key={name}>{content}</span>
        ) : (
          <a key={name} href={href}>
            {content}
          </a>
        )
      })}
    </div>
  )
}

function Swatch({ series: { color, edge } }: { series: ChartSeries }) {
  return (
    <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
      <rect width="10" height="10" style={{ '--swatch': `var(--${color})` }} />
      {edge !== undefined && (
        <rect width="10" height="2.5" style={{ '--swatch': `var(--${edge})` }} />
      )}
    </svg>
  )
}

function LineSwatch({ series: { color, isDashed } }: { series: ChartSeries }) {
  return (
    <svg class="swatch-line" viewBox="0 0 16 8" aria-hidden="true">
      <path
        d="M0 4h16"
        style={{ '--swatch': `var(--${color})` }}
        stroke-dasharray={isDashed ? '5 3' : undefined}
      />
    </svg>
  )
}

function ChartTable({
  title,
  times,
  frames,
}: {
  title: string
  times: ChartTimes
  frames: readonly ChartFrame[]
}) {
  const columns = frames.flatMap((frame) => frame.series.map((series) => ({ frame, series })))
  return (
    <div
      class="table-wrap chart-table"
      role="region"
      aria-label={`${title}, as a table`}
      tabIndex={0}
    >
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Time</th>
            {columns.map(({ series }) => (
              <th scope="col" class="right" key={series.name}>
                {series.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.starts.map((start, index) => (
            <tr key={start}>
              <th scope="row">{formatPoint(times, index)}</th>
              {columns.map(({ frame, series }) => (
                <td class="right" key={series.name}>
                  {formatValue(series.values[index], frame.unit)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** `16 Nov, 10:00 to 11:00`, or `16 Nov` for a whole day. */
function formatPoint(times: ChartTimes, index: number): string {
  const start = times.starts[index] ?? 0
  const end = times.starts[index + 1] ?? times.endsAt
  if (isDaily(times)) return formatUtcDay(start)
  return `${formatDay(start)}, ${formatClock(start)} to ${formatClock(end)}`
}

function describe(times: ChartTimes, frames: readonly ChartFrame[], index: number): string {
  const values = frames.flatMap(({ series, unit }) =>
    series.map(({ name, values: all }) => `${name} ${formatValue(all[index], unit)}`),
  )
  return [formatPoint(times, index), ...values].join(', ')
}

function indexAt({ starts, endsAt }: ChartTimes, at: number | undefined): number | undefined {
  if (at === undefined || at >= endsAt) return undefined
  const index = starts.findLastIndex((start) => start <= at)
  return index < 0 ? undefined : index
}

function maxOf({ kind, series }: ChartFrame): number {
  if (kind === 'lines')
    return Math.max(0, ...series.flatMap(({ values }) => values.map((v) => v ?? 0)))
  const length = series[0]?.values.length ?? 0
  const sums = Array.from({ length }, (_, index) =>
    sum(series.map(({ values }) => values[index] ?? 0)),
  )
  return Math.max(0, ...sums)
}

function sum(values: readonly (number | null)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0)
}
