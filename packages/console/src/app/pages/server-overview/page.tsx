/** The overview of operators: problems first, then services, figures, work, storage and the server. */
import { user } from '../../api/user-session.ts'
import { CreateAccount } from '../../parts/create-account.tsx'
import { formatCount, formatRelative, now } from '../../parts/format.ts'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { param, setQuery } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import {
  fetchFigures,
  fetchStatus,
  type Period,
  periods,
  type ServerStatus,
  toPeriod,
} from './api.ts'
import { Charts } from './charts.tsx'
import { ServerPanel, StoragePanel, WorkPanel } from './facts.tsx'
import { Problems } from './problems.tsx'
import { Services } from './services.tsx'

const STATUS_MS = 10_000
const FIGURES_MS = 30_000

export default function ServerOverviewPage() {
  const period = toPeriod(param('period'))
  const status = useResource(fetchStatus, { everyMs: STATUS_MS })
  const figures = useResource((signal) => fetchFigures(toPeriod(param('period')), signal), {
    everyMs: FIGURES_MS,
  })
  const data = status.data.value
  return (
    <>
      <Bar
        title="Overview"
        note={data && <State status={data} />}
        actions={
          <>
            <Updated at={status.fetchedAt.value} isFailed={status.error.value !== undefined} />
            <Periods period={period} />
          </>
        }
      />
      <main id="main">
        <Loaded resource={status} what="the server">
          {(loaded) => (
            <div class="page">
              <Problems problems={loaded.problems} />
              {loaded.services.some(({ name }) => name === 'ferryhook') && <NoAccount />}
              <Services services={loaded.services} figures={figures.data.value} period={period} />
              <Loaded resource={figures} what="figures">
                {(values) => <Charts figures={values} />}
              </Loaded>
              <div class="cols cols-3">
                <WorkPanel status={loaded} />
                <StoragePanel storage={loaded.storage} />
                <ServerPanel status={loaded} />
              </div>
            </div>
          )}
        </Loaded>
      </main>
    </>
  )
}

function State({ status }: { status: ServerStatus }) {
  const { state, problems } = status
  return (
    <>
      <Status status={state} look="badge" />{' '}
      <span class="hide-small">
        {problems.length === 0 ? 'No problems' : formatCount(problems.length, 'problem')}
      </span>
    </>
  )
}

/** When the page was last up to date; says so if it is not any more. */
function Updated({ at, isFailed }: { at: number | undefined; isFailed: boolean }) {
  if (at === undefined) return null
  const age = formatRelative(at, now.value)
  return (
    <span class={isFailed ? 'bar-note st-text is-warn hide-small' : 'bar-note hide-small'}>
      {isFailed ? 'Not updated since ' : 'Updated '}
      {age === 'now' ? 'now' : `${age} ago`}
    </span>
  )
}

function Periods({ period }: { period: Period }) {
  return (
    <div class="seg" role="group" aria-label="Period">
      {periods.map((each) => (
        <button
          type="button"
          key={each}
          aria-pressed={each === period}
          onClick={() => setQuery({ period: each })}
        >
          {each.replace('h', ' h')}
        </button>
      ))}
    </div>
  )
}

/** For the first operator: delivering webhooks needs an account besides the token. */
function NoAccount() {
  if (user.value) return null
  return (
    <section class="panel" aria-label="Ferryhook account">
      <div class="panel-head">
        <p>
          To receive and deliver webhooks yourself, you need a Ferryhook account besides your
          operator's token.
        </p>
        <span class="push" />
        <CreateAccount />
      </div>
    </section>
  )
}
