/** The progress of a job: a bar, what was done, and how to cancel it. */
import { cancelJob, type Job } from '../api/jobs.ts'
import { missingRole } from '../api/operator-session.ts'
import { ActionButton } from './action-button.tsx'
import { formatCount, formatNumber } from './format.ts'
import { Meter } from './meter.tsx'
import { Status } from './status.tsx'

export function jobStatus({ state, cancelledBy }: Job) {
  if (state === 'running' && cancelledBy !== null)
    return <Status status="processing">Ending</Status>
  return <Status status={state} />
}

/** `12 of 37`, or `12` while the total is unknown. */
export function progressText({ done, total }: Job): string {
  return total === null ? formatNumber(done) : `${formatNumber(done)} of ${formatNumber(total)}`
}

/** Counts that need another word, and those that come last because nothing was done. */
const COUNT_WORDS: Readonly<Record<string, string>> = { young: 'young enough' }

/** "36 rotated, 1 failed, 374 young enough"; counts of 0 are left out. */
export function countsText({ counts }: Job): string {
  const parts = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .toSorted(([a], [b]) => Number(a in COUNT_WORDS) - Number(b in COUNT_WORDS))
  return parts
    .map(([name, count]) => `${formatNumber(count)} ${COUNT_WORDS[name] ?? name}`)
    .join(', ')
}

export function JobProgress({ job, onChange }: { job: Job; onChange: (job: Job) => void }) {
  const isRunning = job.state === 'running'
  return (
    <div class="form">
      <div role="status">
        <Meter
          name={isRunning ? 'Progress' : 'Result'}
          used={job.done}
          limit={job.total ?? Math.max(job.done, 1)}
          text={progressText(job)}
          isNeutral
        >
          {countsText(job) ||
            (isRunning ? 'Counting what there is to do' : 'There was nothing to do')}
        </Meter>
      </div>
      {job.problem !== null && (
        <p class="hint">{isRunning ? `${job.problem} It is tried again.` : job.problem}</p>
      )}
      {isRunning && (
        <div class="buttons">
          <ActionButton
            small
            look="danger"
            notAllowed={
              job.cancelledBy === null
                ? missingRole('editor', job.service)
                : 'The job ends after its current step'
            }
            run={async () => onChange(await cancelJob(job.id))}
          >
            <span>{job.cancelledBy === null ? 'Cancel job' : 'Ending…'}</span>
          </ActionButton>
        </div>
      )}
    </div>
  )
}

export function JobFailures({ job }: { job: Job }) {
  if (job.failures.length === 0) return null
  const more = (job.counts['failed'] ?? 0) - job.failures.length
  return (
    <div class="table-wrap">
      <table class="table table-cards">
        <thead>
          <tr>
            <th>Failed</th>
            <th>Why</th>
          </tr>
        </thead>
        <tbody>
          {job.failures.map(({ target, problem }) => (
            <tr key={target}>
              <td class="card-main mono">{target}</td>
              <td class="card-wide">{problem}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p class="panel-note">{`and ${formatCount(more, 'other')}`}</p>}
    </div>
  )
}
