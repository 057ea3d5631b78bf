/** Requests by status class with 5xx on their own scale, latency, and work over time. */
import { ChartPanel } from '../../parts/chart.tsx'
import { formatDuration, formatNumber } from '../../parts/format.ts'
import type { Figures } from './api.ts'

export function Charts({ figures }: { figures: Figures }) {
  const { all, work, stepSeconds } = figures
  const first = Date.parse(figures.from)
  const steps = all.requests['2xx'].length
  const times = {
    starts: Array.from({ length: steps }, (_, step) => first + step * stepSeconds * 1000),
    endsAt: Date.parse(figures.to),
  }
  const minutes = stepSeconds / 60
  const perMinute = (counts: readonly number[]) =>
    counts.map((count) => Math.round((count / minutes) * 10) / 10)
  const { p50Ms, p95Ms } = all.total
  const hasWork = work.due.some((value) => value !== null)
  return (
    <>
      <div class="cols cols-2">
        <ChartPanel
          title="Requests per minute"
          times={times}
          frames={[
            {
              kind: 'columns',
              series: [
                {
                  name: '2xx',
                  color: 'ok-area',
                  edge: 'ok-mark',
                  values: perMinute(all.requests['2xx']),
                  total: total(all.requests['2xx']),
                },
                {
                  name: '3xx',
                  color: 'info-mark',
                  values: perMinute(all.requests['3xx']),
                  total: total(all.requests['3xx']),
                },
                {
                  name: '4xx',
                  color: 'mute-mark',
                  values: perMinute(all.requests['4xx']),
                  total: total(all.requests['4xx']),
                },
                {
                  name: '5xx',
                  color: 'bad-mark',
                  values: perMinute(all.requests['5xx']),
                  total: total(all.requests['5xx']),
                },
              ],
            },
            {
              kind: 'columns',
              title: '5xx, on their own scale',
              height: 'low',
              series: [
                {
                  name: '5xx',
                  color: 'bad-mark',
                  values: perMinute(all.requests['5xx']),
                  total: total(all.requests['5xx']),
                },
              ],
            },
          ]}
          note={minutes === 1 ? 'One minute in each column.' : `${minutes} minutes in each column.`}
        />
        <ChartPanel
          title="Latency, all services"
          times={times}
          frames={[
            {
              kind: 'lines',
              unit: 'ms',
              hasBand: true,
              height: 'tall',
              series: [
                { name: 'p50', color: 'line-a', values: all.latencyMs.p50, total: duration(p50Ms) },
                {
                  name: 'p95',
                  color: 'line-b',
                  values: all.latencyMs.p95,
                  total: duration(p95Ms),
                  isDashed: true,
                },
              ],
            },
          ]}
          note="Until the first byte of the response."
        />
      </div>
      {hasWork && (
        <ChartPanel
          title="Deliveries due and waiting"
          times={times}
          frames={[
            {
              kind: 'lines',
              height: 'low',
              series: [
                { name: 'Due', color: 'line-a', values: work.due, total: last(work.due) },
                {
                  name: 'Waiting',
                  color: 'line-b',
                  values: work.waiting,
                  total: last(work.waiting),
                  isDashed: true,
                },
                {
                  name: 'Overdue',
                  color: 'bad-mark',
                  values: work.overdue,
                  total: last(work.overdue),
                },
              ],
            },
          ]}
          note="At the end of each step."
        />
      )}
    </>
  )
}

function total(counts: readonly number[]): string {
  return formatNumber(counts.reduce((sum, count) => sum + count, 0))
}

function duration(ms: number | null): string {
  return ms === null ? '–' : formatDuration(ms)
}

function last(values: readonly (number | null)[]): string {
  return formatNumber(values.findLast((value) => value !== null) ?? 0)
}
