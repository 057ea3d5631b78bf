/** Sealed: numbers only, never a secret or an id; and the API tokens of programs. */
import type { FiguresView } from '@strongroom/sealed/figures/routes'
import type { z } from 'zod'
import { request } from '../../api/request.ts'
import { ChartPanel } from '../../parts/chart.tsx'
import { formatBytes, formatNumber } from '../../parts/format.ts'
import { Meter } from '../../parts/meter.tsx'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { param, setQuery } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { ApiTokens } from './api-tokens.tsx'

type Figures = z.infer<typeof FiguresView>

const REFRESH_MS = 60_000
const HOUR_MS = 3_600_000

const PERIODS = [
  { value: '24h', name: '24 h', hours: 24, step: 1 },
  { value: '7d', name: '7 d', hours: 7 * 24, step: 6 },
  { value: '30d', name: '30 d', hours: 30 * 24, step: 24 },
] as const

const chosenPeriod = () => PERIODS.find(({ value }) => value === param('period')) ?? PERIODS[0]

export default function SealedPage() {
  const figures = useResource(
    (signal) =>
      request<Figures>('GET', '/sealed/v1/figures', {
        as: 'operator',
        query: { hours: chosenPeriod().hours },
        signal,
      }),
    { everyMs: REFRESH_MS },
  )
  const period = chosenPeriod()
  return (
    <>
      <Bar
        title="Sealed"
        actions={
          <div class="seg" role="group" aria-label="Period">
            {PERIODS.map(({ value, name }) => (
              <button
                key={value}
                type="button"
                aria-pressed={period.value === value}
                onClick={() => setQuery({ period: value === '24h' ? undefined : value })}
              >
                {name}
              </button>
            ))}
          </div>
        }
      />
      <main id="main">
        <div class="page">
          <Loaded resource={figures} what="the figures of Sealed">
            {(found) => <Numbers figures={found} step={period.step} />}
          </Loaded>
          <ApiTokens />
        </div>
      </main>
    </>
  )
}

function Numbers({ figures, step }: { figures: Figures; step: number }) {
  const { total, quota } = figures
  const columns = sumEvery(figures.hours, step)
  const starts = columns.map(({ from }) => Date.parse(from))
  const values = (name: keyof Figures['total']) => columns.map((each) => each[name])
  return (
    <>
      <div class="stats">
        <Stat name="Created" value={total.created} note="new secrets" />
        <Stat name="Opened" value={total.opened} note="read by their recipients" />
        <Stat name="Expired" value={total.expired} note="ended unread" />
        <Stat name="Refused" value={total.refused} note="wrong or used links, passphrases, work" />
      </div>
      <ChartPanel
        title="Secrets"
        times={{ starts, endsAt: (starts.at(-1) ?? 0) + step * HOUR_MS }}
        frames={[
          {
            kind: 'columns',
            series: [
              { name: 'Created', color: 'ok-area', values: values('created') },
              { name: 'Opened', color: 'line-a', values: values('opened') },
            ],
          },
          {
            kind: 'columns',
            title: 'Refused and expired, on their own scale',
            height: 'low',
            series: [
              { name: 'Expired', color: 'warn-mark', values: values('expired') },
              { name: 'Refused', color: 'bad-mark', values: values('refused') },
            ],
          },
        ]}
        note="Of all servers, written once a minute. Numbers only: Sealed tells nobody which secret was opened."
      />
      <section class="panel" aria-labelledby="h-quota">
        <div class="panel-head">
          <h2 id="h-quota">Storage</h2>
        </div>
        <div class="panel-body">
          {quota ? (
            <Meter
              name="Quota"
              used={quota.usedBytes}
              limit={quota.maxBytes}
              text={`${formatBytes(quota.usedBytes)} of ${formatBytes(quota.maxBytes)}`}
            >
              A full quota refuses new secrets until others end. Change it with SEALED_QUOTA_MB.
            </Meter>
          ) : (
            <p>No quota. Set one with SEALED_QUOTA_MB.</p>
          )}
        </div>
      </section>
    </>
  )
}

function Stat({ name, value, note }: { name: string; value: number; note: string }) {
  return (
    <div class="stat">
      <span class="stat-name">{name}</span>
      <span class="stat-figure">{formatNumber(value)}</span>
      <span class="stat-note">{note}</span>
    </div>
  )
}

function sumEvery(hours: Figures['hours'], step: number): Figures['hours'] {
  const columns: Figures['hours'] = []
  for (let at = 0; at < hours.length; at += step) {
    const part = hours.slice(at, at + step)
    const sum = (name: keyof Figures['total']) =>
      part.reduce((total, each) => total + each[name], 0)
    columns.push({
      from: part[0]?.from ?? '',
      created: sum('created'),
      opened: sum('opened'),
      expired: sum('expired'),
      refused: sum('refused'),
    })
  }
  return columns
}
