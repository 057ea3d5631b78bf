/** One replay job, with its progress while it runs. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { CopyId } from '../../parts/copy.tsx'
import { formatNumber } from '../../parts/format.ts'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { ExactTime, RelativeTime } from '../../parts/time.tsx'
import type { PageProps } from '../../pages.ts'
import { BASE } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { eventsHref } from '../overview/links.ts'
import { getReplay, type Replay, RUNNING_REFRESH_MS } from './api.ts'
import { CancelDialog } from './cancel-dialog.tsx'
import { describeFilter, ReplayProgress } from './progress.tsx'

export default function ReplayPage({ params }: PageProps) {
  const { id = '' } = params
  const replay = useResource((signal) => getReplay(id, signal))
  const isCancelling = useSignal(false)
  const data = replay.data.value
  const isRunning = data?.state === 'running'
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => replay.reload(), RUNNING_REFRESH_MS)
    return () => clearInterval(timer)
  }, [isRunning])
  return (
    <>
      <Bar
        title={data ? `Replay of ${data.sourceName ?? 'a deleted source'}` : 'Replay'}
        parent={{ label: 'Replays', href: `${BASE}/replays` }}
        note={data && <Status status={data.state} look="badge" />}
        actions={
          isRunning && (
            <button
              class="button button-danger"
              type="button"
              onClick={() => (isCancelling.value = true)}
            >
              <span>Cancel replay…</span>
            </button>
          )
        }
      />
      <main id="main">
        <Loaded resource={replay} what="the replay">
          {(current) => <Content replay={current} />}
        </Loaded>
      </main>
      {isCancelling.value && data && (
        <CancelDialog
          replay={data}
          onCancelled={replay.set}
          onClose={() => (isCancelling.value = false)}
        />
      )}
    </>
  )
}

function Content({ replay }: { replay: Replay }) {
  const { events, deliveries, state } = replay
  const figures: [name: string, figure: number, note: string][] = [
    ['Replayed', deliveries.replayed, 'deliveries started'],
    ['Matched', events.matched, `of ${formatNumber(events.examined)} events read`],
    ['Skipped', deliveries.runOpen + events.unverified, 'already pending, or not verified'],
    ['Gone', events.gone, 'expired before they were replayed'],
  ]
  return (
    <div class="page page-narrow">
      <section class="panel" aria-labelledby="progress">
        <div class="panel-head">
          <h2 id="progress">Progress</h2>
          <p class="push" role="status">
            {state === 'running' ? <Remaining replay={replay} /> : <Ended replay={replay} />}
          </p>
        </div>
        <div class="panel-body">
          <ReplayProgress replay={replay} />
        </div>
      </section>
      <div class="stats stats-4">
        {figures.map(([name, figure, note]) => (
          <div class="stat" key={name}>
            <span class="stat-name">{name}</span>
            <span class="stat-figure">{formatNumber(figure)}</span>
            <span class="stat-note">{note}</span>
          </div>
        ))}
      </div>
      <section class="panel" aria-labelledby="what">
        <div class="panel-head">
          <h2 id="what">What is replayed</h2>
          <span class="push" />
          <a
            class="small"
            href={eventsHref(
              { from: replay.from, to: replay.to, source: replay.sourceId },
              replay.status === null ? {} : { status: replay.status },
            )}
          >
            See these events
          </a>
        </div>
        <dl class="facts panel-body">
          <Fact name="Events">{describeFilter(replay)}</Fact>
          <Fact name="Source">
            {replay.sourceName === null ? (
              'Deleted'
            ) : (
              <a href={`${BASE}/sources/${replay.sourceId}`}>{replay.sourceName}</a>
            )}
          </Fact>
          <Fact name="Received from">
            <ExactTime time={replay.from} />
          </Fact>
          <Fact name="Received until">
            <ExactTime time={replay.to} />
          </Fact>
          <Fact name="Connections">
            {replay.connectionIds.map((connectionId) => (
              <a class="mono" href={`${BASE}/connections/${connectionId}`} key={connectionId}>
                {connectionId}
              </a>
            ))}
          </Fact>
          <Fact name="Rate">{formatNumber(replay.perSecond)} deliveries per second at most</Fact>
          <Fact name="Started">
            <ExactTime time={replay.createdAt} />
          </Fact>
          <Fact name="Id">
            <CopyId id={replay.id} full />
          </Fact>
        </dl>
      </section>
    </div>
  )
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

function Remaining({ replay: { estimatedEndAt } }: { replay: Replay }) {
  if (estimatedEndAt === null) return <>Has just started</>
  return (
    <>
      Ends in about <RelativeTime time={estimatedEndAt} />
    </>
  )
}

function Ended({ replay: { state, updatedAt } }: { replay: Replay }) {
  return (
    <>
      {state === 'done' ? 'Done' : 'Cancelled'} <RelativeTime time={updatedAt} suffix=" ago" />
    </>
  )
}
