/** The same filter and transform on the last events of the source, with a summary. */
import { useSignal } from '@preact/signals'
import { type Connection, V1 } from '../../api/ferryhook.ts'
import { request } from '../../api/request.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { formatCount, formatNumber } from '../../parts/format.ts'
import { RelativeTime } from '../../parts/time.tsx'
import { setQuery } from '../../router.ts'
import { type Draft, transformOf } from './draft.ts'
import { toFilter } from './filter-rows.ts'

const LAST = 100

type Outcome = 'delivered' | 'filtered' | 'dropped' | 'failed' | 'not_found'

interface BatchResult {
  summary: Record<Outcome, number>
  items: {
    eventId: string
    type: string | null
    outcome: Outcome
    reason: string | null
    error: { code: string; message: string } | null
  }[]
  isComplete: boolean
}

const FILL: Record<Outcome, readonly [color: string, top: number]> = {
  delivered: ['f-ok', 4],
  filtered: ['f-mute', 13],
  dropped: ['f-mute', 13],
  failed: ['f-bad', 0],
  not_found: ['f-mute', 17],
}

export function DryRunMany({ connection, draft }: { connection: Connection; draft: Draft }) {
  const result = useSignal<{ batch: BatchResult; at: number; of: string } | undefined>(undefined)
  const json = { filters: toFilter(draft.rows), transform: transformOf(draft), last: LAST }
  const key = JSON.stringify(json)
  const run = async () => {
    const path = `${V1}/sources/${connection.sourceId}/dry-runs`
    const batch = await request<BatchResult>('POST', path, { json })
    result.value = { batch, at: Date.now(), of: key }
  }
  const found = result.value
  return (
    <section class="dry-many" aria-label="Last events">
      <div class="part-head">
        <h3>Last {LAST} events of this source</h3>
        <span class="push" />
        {found && (
          <span class="small faint">
            {found.of === key ? (
              <RelativeTime time={found.at} suffix=" ago" />
            ) : (
              'Of an earlier draft'
            )}
          </span>
        )}
        <ActionButton small run={run}>
          <span>Run on all</span>
        </ActionButton>
      </div>
      {found && <Summary batch={found.batch} />}
    </section>
  )
}

function Summary({ batch }: { batch: BatchResult }) {
  const { summary, items } = batch
  const errors = items.filter(({ outcome }) => outcome === 'failed')
  const filtered = summary.filtered + summary.dropped
  const words = `${summary.delivered} would be sent, ${filtered} filtered, ${formatCount(summary.failed, 'error')}`
  return (
    <div role="status">
      <svg
        class="cells"
        viewBox={`0 0 ${Math.max(items.length, 20) * 10} 20`}
        preserveAspectRatio="none"
        role="img"
        aria-label={words}
      >
        {items.toReversed().map(({ eventId, outcome }, index) => {
          const [color, top] = FILL[outcome]
          return (
            <rect
              class={color}
              x={index * 10 + 1}
              y={top}
              width={8}
              height={20 - top}
              key={eventId}
            />
          )
        })}
      </svg>
      <p class="legend">
        <Swatch color="f-ok" label="Would be sent" count={summary.delivered} />
        <Swatch color="f-mute" label="Filtered" count={filtered} />
        <Swatch color="f-bad" label="Error" count={summary.failed} />
      </p>
      {!batch.isComplete && (
        <p class="hint">
          There was time for {formatNumber(items.length)} events only: the script is slow.
        </p>
      )}
      {errors.length > 0 && (
        <ul class="dry-errors">
          {errors.slice(0, 5).map(({ eventId, type, error }) => (
            <li key={eventId}>
              <button
                class="button button-small button-quiet"
                type="button"
                onClick={() => setQuery({ sample: eventId }, { replace: true })}
              >
                <span>{type ?? eventId}</span>
              </button>{' '}
              <span class="small soft">{error?.message}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function Swatch({ color, label, count }: { color: string; label: string; count: number }) {
  return (
    <span>
      <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
        <rect class={color} width="10" height="10" />
      </svg>
      {label} <b>{formatNumber(count)}</b>
    </span>
  )
}
