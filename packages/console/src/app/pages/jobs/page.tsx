/** Long work that operators started: a list, and one job with its progress. */
import { useSignal } from '@preact/signals'
import { downloadJobFile, getJob, type Job, listJobs, startJob } from '../../api/jobs.ts'
import { missingRole } from '../../api/operator-session.ts'
import type { PageProps } from '../../pages.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command, CopyId } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, Problem } from '../../parts/field.tsx'
import { formatBytes, formatCount } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import {
  countsText,
  JobFailures,
  JobProgress,
  jobStatus,
  progressText,
} from '../../parts/job-progress.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { ExactTime, RelativeTime } from '../../parts/time.tsx'
import { messageOf } from '../../api/errors.ts'
import { navigate } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'

const REFRESH_MS = 2_000
const EXPORT = 'server.export-audit-log'

const TITLES: Readonly<Record<string, string>> = {
  'key-store.rotate-keys': 'Rotate old branch keys',
  [EXPORT]: 'Export the audit log',
}

const titleOf = (kind: string) => TITLES[kind] ?? kind

export default function JobsPage({ params }: PageProps) {
  const { id } = params
  return id === undefined ? <JobList /> : <JobDetail id={id} key={id} />
}

function JobList() {
  const older = useSignal<Job[]>([])
  const cursor = useSignal<string | null | undefined>(undefined)
  const isExporting = useSignal(false)
  const jobs = useResource((signal) => listJobs({ limit: 50 }, signal), { everyMs: REFRESH_MS })
  const showMore = async () => {
    const from = cursor.value ?? jobs.data.value?.cursor
    if (!from) return
    const page = await listJobs({ limit: 50, cursor: from })
    older.value = [...older.value, ...page.items]
    cursor.value = page.cursor
  }
  return (
    <>
      <Bar
        title="Jobs"
        note={
          jobs.data.value && formatCount(runningCount(jobs.data.value.items), 'running', 'running')
        }
        actions={
          <ActionButton
            notAllowed={missingRole('admin', 'server')}
            run={() => void (isExporting.value = true)}
          >
            <Icon name="download" />
            <span>Export audit log…</span>
          </ActionButton>
        }
      />
      <main id="main">
        <div class="page">
          <h2 class="unseen">Jobs of the server</h2>
          <Loaded resource={jobs} what="jobs">
            {(page) =>
              page.items.length === 0 ? (
                <Empty title="No jobs" command="strongroom jobs list">
                  A job is long work that runs on the server, such as rotating all old branch keys.
                  It continues after a restart.
                </Empty>
              ) : (
                <section class="panel" aria-label="Jobs">
                  <JobTable jobs={[...runningFirst(page.items), ...older.value]} />
                  <div class="panel-foot">
                    <span>Jobs are kept for 30 days after they ended.</span>
                    {(cursor.value === undefined ? page.cursor : cursor.value) !== null && (
                      <ActionButton small run={showMore}>
                        <span>Show older jobs</span>
                      </ActionButton>
                    )}
                  </div>
                </section>
              )
            }
          </Loaded>
        </div>
      </main>
      {isExporting.value && <ExportDialog onClose={() => (isExporting.value = false)} />}
    </>
  )
}

const runningCount = (jobs: readonly Job[]) =>
  jobs.filter(({ state }) => state === 'running').length

function runningFirst(jobs: readonly Job[]): Job[] {
  const rank = ({ state }: Job) => (state === 'running' ? 0 : 1)
  return jobs.toSorted((a, b) => rank(a) - rank(b))
}

function JobTable({ jobs }: { jobs: readonly Job[] }) {
  return (
    <div class="table-wrap">
      <table class="table table-cards">
        <thead>
          <tr>
            <th>Job</th>
            <th>State</th>
            <th class="right">Done</th>
            <th>Result</th>
            <th>Started</th>
            <th>By</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.id}>
              <td class="card-main">
                <a class="link" href={`/console/server/jobs/${job.id}`}>
                  {titleOf(job.kind)}
                </a>
                <p class="second mono">{job.kind}</p>
              </td>
              <td class="fit">{jobStatus(job)}</td>
              <td class="right nowrap" data-name="Done">
                {progressText(job)}
              </td>
              <td data-name="Result">{countsText(job) || '–'}</td>
              <td class="nowrap" data-name="Started">
                <RelativeTime time={job.createdAt} suffix=" ago" />
              </td>
              <td class="nowrap" data-name="By">
                {job.createdBy.replace(/^operator:/, '')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function JobDetail({ id }: { id: string }) {
  const job = useResource((signal) => getJob(id, signal), { everyMs: REFRESH_MS })
  const data = job.data.value
  return (
    <>
      <Bar
        title={data ? titleOf(data.kind) : 'Job'}
        parent={{ label: 'Jobs', href: '/console/server/jobs' }}
        note={data && jobStatus(data)}
        actions={
          data?.file && (
            <ActionButton
              look="primary"
              notAllowed={missingRole('admin', data.service)}
              run={() => downloadJobFile(data)}
            >
              <Icon name="download" />
              <span>{`Download ${formatBytes(data.file.bytes)}`}</span>
            </ActionButton>
          )
        }
      />
      <main id="main">
        <div class="page page-narrow">
          <h2 class="unseen">Job</h2>
          <Loaded resource={job} what="this job">
            {(found) => (
              <>
                <section class="panel" aria-label="Progress">
                  <div class="panel-body">
                    <JobProgress job={found} onChange={job.set} />
                  </div>
                  <JobFailures job={found} />
                </section>
                <section class="panel" aria-label="Details">
                  <div class="panel-body form">
                    <dl class="facts">
                      <dt>Id</dt>
                      <dd>
                        <CopyId id={found.id} full />
                      </dd>
                      <dt>Started</dt>
                      <dd>
                        <ExactTime time={found.createdAt} /> by {found.createdBy}
                      </dd>
                      {found.endedAt !== null && (
                        <>
                          <dt>Ended</dt>
                          <dd>
                            <ExactTime time={found.endedAt} />
                          </dd>
                        </>
                      )}
                      {found.cancelledBy !== null && (
                        <>
                          <dt>Cancelled by</dt>
                          <dd>{found.cancelledBy}</dd>
                        </>
                      )}
                      {Object.entries(found.input).map(([name, value]) => (
                        <>
                          <dt>{name}</dt>
                          <dd class="mono">{String(value)}</dd>
                        </>
                      ))}
                      {found.file && (
                        <>
                          <dt>File</dt>
                          <dd>
                            {found.file.name}, kept until{' '}
                            <ExactTime time={found.file.expiresAt} withMs={false} />
                          </dd>
                        </>
                      )}
                    </dl>
                    <Command
                      text={`strongroom jobs ${found.state === 'running' ? 'cancel' : 'show'} ${found.id}`}
                    />
                  </div>
                </section>
              </>
            )}
          </Loaded>
        </div>
      </main>
    </>
  )
}

function ExportDialog({ onClose }: { onClose: () => void }) {
  const format = useSignal<'csv' | 'ndjson'>('csv')
  const problem = useSignal<string | undefined>(undefined)
  const start = async () => {
    try {
      const { id } = await startJob(EXPORT, { format: format.value })
      onClose()
      navigate(`/server/jobs/${id}`)
    } catch (error) {
      problem.value = messageOf(error)
    }
  }
  return (
    <Dialog
      title="Export the audit log?"
      onClose={onClose}
      onSubmit={() => void start()}
      foot={
        <>
          <button class="button" type="button" onClick={onClose}>
            <span>Not now</span>
          </button>
          <button class="button button-primary" type="submit">
            <span>Start export</span>
          </button>
        </>
      }
    >
      <p>
        A job writes all changes by operators of the last year to a file, newest first. The file is
        kept for 7 days.
      </p>
      <Field label="Format">
        {(ids) => (
          <select
            class="select"
            {...ids}
            value={format.value}
            onChange={(event) =>
              (format.value = event.currentTarget.value === 'ndjson' ? 'ndjson' : 'csv')
            }
          >
            <option value="csv">CSV, for spreadsheets</option>
            <option value="ndjson">NDJSON, one entry per line</option>
          </select>
        )}
      </Field>
      {problem.value !== undefined && <Problem>{problem.value}</Problem>}
    </Dialog>
  )
}
