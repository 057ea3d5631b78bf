/** Sites by version over days: one hue from dark to light, newest strongest, a withdrawn one amber. */
import { useSignal } from '@preact/signals'
import type { AdoptionDays, ReleaseLine } from '../api/form-bridge.ts'
import { formatDay, formatNumber } from './format.ts'
import { versionSeries, type VersionSeries } from './versions.ts'

const [WIDTH, HEIGHT] = [300, 100]
const MIN_POINTS = 5

export function VersionsChart(props: {
  adoption: AdoptionDays
  releases: readonly ReleaseLine[]
  title: string
  /** The sites that have the version. */
  hrefOf: (version: string) => string
}) {
  const { adoption, releases, title, hrefOf } = props
  const { days } = adoption
  const isTable = useSignal(false)
  const isUnfolded = useSignal(false)
  const series = versionSeries(adoption, releases)
  const totals = days.map((_, at) => series.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0))
  const max = Math.max(1, ...totals)
  const first = totals.findIndex((total) => total > 0)
  const recorded = first === -1 ? 0 : days.length - first
  const isIncomplete = days.some(({ is_complete }) => !is_complete)
  return (
    <section class={isUnfolded.value ? 'adoption is-unfolded' : 'adoption'} aria-label={title}>
      <div class="part-head">
        <h2>{title}</h2>
        <span class="push" />
        {series.length > 0 && (
          <button
            class="text-button small only-small"
            type="button"
            aria-expanded={isUnfolded.value}
            onClick={() => (isUnfolded.value = !isUnfolded.value)}
          >
            {isUnfolded.value ? 'Hide' : 'Show'}
          </button>
        )}
        {series.length > 0 && (
          <button
            class="text-button small adoption-more"
            type="button"
            aria-pressed={isTable.value}
            onClick={() => (isTable.value = !isTable.value)}
          >
            {isTable.value ? 'Show as chart' : 'Show as table'}
          </button>
        )}
      </div>
      {series.length > 0 && (
        <div class="only-small adoption-folded">
          <ShareBar series={series} />
        </div>
      )}
      {series.length === 0 ? (
        <p class="soft small">No site has checked for updates in these days.</p>
      ) : isTable.value ? (
        <VersionsTable days={days} series={series} />
      ) : (
        <div class="adoption-grid">
          {recorded >= MIN_POINTS ? (
            <Areas days={days} series={series} max={max} />
          ) : (
            <div class="version-bars">
              <ShareBar series={series} />
              <p class="faint small">Today. A chart over time appears after five days.</p>
            </div>
          )}
          <ul class="legend legend-list">
            {series.toReversed().map((each) => (
              <LegendLine
                each={each}
                fill={fillOf(series, each)}
                hrefOf={hrefOf}
                key={each.version ?? ''}
              />
            ))}
          </ul>
        </div>
      )}
      {isIncomplete && (
        <p class="faint small">Sites report more than 200 versions a day; some are left out.</p>
      )}
    </section>
  )
}

/** `f-1` is the strongest step. */
function fillOf(series: readonly VersionSeries[], each: VersionSeries): string {
  if (each.isWithdrawn) return 'f-warn'
  return `f-${Math.min(4, series.indexOf(each) + 1)}`
}

/** The token of each fill, for swatches. */
const COLORS: Record<string, string> = {
  'f-1': 'step-1',
  'f-2': 'step-2',
  'f-3': 'step-3',
  'f-4': 'step-4',
  'f-warn': 'warn-mark',
}

function LegendLine(props: {
  each: VersionSeries
  fill: string
  hrefOf: (version: string) => string
}) {
  const { each, fill, hrefOf } = props
  const swatch = (
    <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
      <rect width="10" height="10" style={{ '--swatch': `var(--${COLORS[fill]})` }} />
    </svg>
  )
  return (
    <li>
      {each.version === undefined ? (
        <span class="legend-name">{swatch}Older</span>
      ) : (
        <a href={hrefOf(each.version)}>
          {swatch}
          <span class="cut">{each.version}</span>
        </a>
      )}
      {each.isWithdrawn && <span class="tag tag-bad">Withdrawn</span>}
      {each.isNewest && <span class="faint">newest</span>}
      <b class="push">{formatNumber(each.last)}</b>
    </li>
  )
}

/** The top of each band, from the bottom up. */
function stack(series: readonly VersionSeries[], length: number): number[][] {
  const tops: number[][] = []
  let below = Array.from({ length }, () => 0)
  for (const { counts } of series) {
    below = below.map((sum, at) => sum + (counts[at] ?? 0))
    tops.push(below)
  }
  return tops
}

function Areas(props: {
  days: AdoptionDays['days']
  series: readonly VersionSeries[]
  max: number
}) {
  const { days, series, max } = props
  const x = (at: number) => round((at * WIDTH) / Math.max(1, days.length - 1))
  const y = (value: number) => round(HEIGHT - (value * HEIGHT) / max)
  const line = (values: readonly number[]) =>
    values.map((value, at) => `${x(at)} ${y(value)}`).join('L')
  const tops = stack(series, days.length)
  const bottoms = [days.map(() => 0), ...tops]
  const cursor = useSignal<number | undefined>(undefined)
  const at = cursor.value
  const move = (to: number) => (cursor.value = Math.max(0, Math.min(days.length - 1, to)))
  const labels = [0, 0.25, 0.5, 0.75].map((share) => days[Math.floor(share * (days.length - 1))])
  return (
    <div class="chart">
      <div class="chart-y" aria-hidden="true">
        <span>{formatNumber(max)}</span>
        <span>0</span>
      </div>
      <div
        class="chart-area"
        role="img"
        aria-label={describe(series)}
        tabIndex={0}
        onPointerMove={(event) => {
          const { left, width } = event.currentTarget.getBoundingClientRect()
          move(Math.round(((event.clientX - left) / width) * (days.length - 1)))
        }}
        onPointerLeave={() => (cursor.value = undefined)}
        onBlur={() => (cursor.value = undefined)}
        onKeyDown={(event) => {
          const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
          if (step === undefined) return
          event.preventDefault()
          move((at ?? days.length - 1) + step)
        }}
      >
        <svg
          class="chart-plot chart-sites"
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {[0, 25, 50, 75].map((height) => (
            <line class="grid" x1="0" x2={WIDTH} y1={height} y2={height} key={height} />
          ))}
          {series.map((each, index) => (
            <path
              class={fillOf(series, each)}
              d={`M${line(tops[index] ?? [])}L${(bottoms[index] ?? [])
                .map((value, day) => `${x(day)} ${y(value)}`)
                .toReversed()
                .join('L')}Z`}
              key={each.version ?? ''}
            />
          ))}
          {tops.slice(0, -1).map((values, index) => (
            <path class="edge" d={`M${line(values)}`} key={index} />
          ))}
          <line class="base" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
          {at !== undefined && <line class="now" x1={x(at)} x2={x(at)} y1="0" y2={HEIGHT} />}
        </svg>
        {at !== undefined && <Tip days={days} series={series} at={at} />}
      </div>
      <div class="chart-x" aria-hidden="true">
        {labels.map((day, index) => (
          <span class={index % 2 === 1 ? 'hide-small' : ''} key={day?.date ?? index}>
            {day && formatDay(Date.parse(day.date))}
          </span>
        ))}
        <span>Today</span>
      </div>
    </div>
  )
}

/** The figures of one day. */
function Tip(props: { days: AdoptionDays['days']; series: readonly VersionSeries[]; at: number }) {
  const { days, series, at } = props
  const share = at / Math.max(1, days.length - 1)
  return (
    <div
      class={share > 0.5 ? 'chart-tip is-left' : 'chart-tip'}
      role="status"
      style={{ '--at': String(share) }}
    >
      <b>{formatDay(Date.parse(days[at]?.date ?? ''))}</b>
      {series
        .filter(({ counts }) => (counts[at] ?? 0) > 0)
        .toReversed()
        .map(({ version, counts }) => (
          <span key={version ?? ''}>
            {formatNumber(counts[at] ?? 0)} on {version ?? 'older ones'}
          </span>
        ))}
    </div>
  )
}

/** The distribution of the last day: on a phone, and until there are enough days for a chart. */
function ShareBar({ series }: { series: readonly VersionSeries[] }) {
  const total = series.reduce((sum, { last }) => sum + last, 0)
  const scale = WIDTH / Math.max(1, total)
  return (
    <svg
      class="version-bar"
      viewBox={`0 0 ${WIDTH} 8`}
      preserveAspectRatio="none"
      role="img"
      aria-label={describe(series)}
    >
      {series.map((each, at) => {
        const before = series.slice(0, at).reduce((sum, { last }) => sum + last, 0)
        return (
          <rect
            class={fillOf(series, each)}
            x={round(before * scale)}
            width={round(each.last * scale)}
            height="8"
            key={each.version ?? ''}
          />
        )
      })}
    </svg>
  )
}

function VersionsTable(props: { days: AdoptionDays['days']; series: readonly VersionSeries[] }) {
  const { days, series } = props
  return (
    <div class="table-wrap versions-table" tabIndex={0}>
      <table class="table">
        <thead>
          <tr>
            <th>Day</th>
            {series.map(({ version, isWithdrawn }) => (
              <th class="right" key={version ?? ''}>
                {version ?? 'Older'}
                {isWithdrawn && ' (withdrawn)'}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map((_, at) => {
            const index = days.length - 1 - at
            const date = days[index]?.date ?? ''
            return (
              <tr key={date}>
                <td>{formatDay(Date.parse(date))}</td>
                {series.map(({ version, counts }) => (
                  <td class="right" key={version ?? ''}>
                    {formatNumber(counts[index] ?? 0)}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

function describe(series: readonly VersionSeries[]): string {
  const parts = series.map(({ version, last }) => `${version ?? 'older'}: ${formatNumber(last)}`)
  return `Sites by version today: ${parts.join(', ')}`
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
