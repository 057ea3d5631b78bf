/** Replay jobs of the last 30 days. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { formatCount, formatNumber } from '../../parts/format.ts'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { BASE } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { listReplays, type Replay, RUNNING_REFRESH_MS } from './api.ts'
import { CancelDialog } from './cancel-dialog.tsx'
import { describeFilter, ReplayProgress } from './progress.tsx'

const REFRESH_MS = 30_000

export default function ReplaysPage() {
  const replays = useResource(listReplays, { everyMs: REFRESH_MS })
  const cancelled = useSignal<Replay | undefined>(undefined)
  const running = replays.data.value?.filter(({ state }) => state === 'running').length ?? 0
  useEffect(() => {
    if (running === 0) return
    const timer = setInterval(() => replays.reload(), RUNNING_REFRESH_MS)
    return () => clearInterval(timer)
  }, [running === 0])
  return (
    <>
      <Bar
        title="Replays"
        note={running > 0 ? `${formatNumber(running)} running` : undefined}
        actions={
          <a class="button" href={`${BASE}/events?status=failed`}>
            <span>Choose events</span>
          </a>
        }
      />
      <main id="main">
        <Loaded resource={replays} what="replays">
          {(items) =>
            items.length === 0 ? (
              <Empty
                title="No replays in the last 30 days"
                actions={
                  <a class="button button-primary" href={`${BASE}/events?status=failed`}>
                    <span>See failed events</span>
                  </a>
                }
                command="strongroom events replay --source 'Stripe production' --status failed --since 2h"
              >
                A replay delivers stored events again, with the present filter and transform of each
                connection. Choose events and replay them, for example after an outage.
              </Empty>
            ) : (
              <Table items={items} onCancel={(replay) => (cancelled.value = replay)} />
            )
          }
        </Loaded>
      </main>
      {cancelled.value && (
        <CancelDialog
          replay={cancelled.value}
          onCancelled={() => replays.reload()}
          onClose={() => (cancelled.value = undefined)}
        />
      )}
    </>
  )
}

function Table({
  items,
  onCancel,
}: {
  items: readonly Replay[]
  onCancel: (replay: Replay) => void
}) {
  // Running jobs first; each part stays newest first.
  const sorted = items.toSorted(
    (a, b) => Number(b.state === 'running') - Number(a.state === 'running'),
  )
  return (
    <div class="page page-flush">
      <div class="table-wrap">
        <table class="table table-cards table-replays">
          <thead>
            <tr>
              <th scope="col">Events</th>
              <th scope="col">Status</th>
              <th scope="col">Progress</th>
              <th scope="col" class="right">
                Replayed
              </th>
              <th scope="col" class="right">
                Started
              </th>
              <th scope="col" class="right">
                Ends
              </th>
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {sorted.map((replay) => (
              <Row replay={replay} onCancel={onCancel} key={replay.id} />
            ))}
          </tbody>
        </table>
      </div>
      <p class="list-note">{formatCount(items.length, 'replay')} in the last 30 days</p>
    </div>
  )
}

function Row({ replay, onCancel }: { replay: Replay; onCancel: (replay: Replay) => void }) {
  const { id, sourceName, state, deliveries, createdAt, estimatedEndAt } = replay
  const isRunning = state === 'running'
  return (
    <tr>
      <td class="card-main">
        <a class="link" href={`${BASE}/replays/${id}`}>
          {sourceName ?? 'Deleted source'}
        </a>
        <p class="second">{describeFilter(replay)}</p>
      </td>
      <td>
        <Status status={state} look="quiet" />
      </td>
      <td class="card-wide">
        <ReplayProgress replay={replay} />
      </td>
      <td class="right" data-name="Replayed">
        {formatNumber(deliveries.replayed)}
      </td>
      <td class="right soft" data-name="Started">
        <RelativeTime time={createdAt} suffix=" ago" />
      </td>
      <td class="right soft" data-name={isRunning ? 'Ends' : undefined}>
        {isRunning && estimatedEndAt !== null ? (
          <>
            in <RelativeTime time={estimatedEndAt} />
          </>
        ) : (
          <span aria-hidden="true">{isRunning ? '…' : ''}</span>
        )}
      </td>
      <td class="fit right">
        {isRunning && (
          <button class="button button-small" type="button" onClick={() => onCancel(replay)}>
            <span>Cancel…</span>
          </button>
        )}
      </td>
    </tr>
  )
}
