/** Rotates all keys older than an age, as a job of the server with live progress. */
import { useSignal } from '@preact/signals'
import { ApiFailure, messageOf } from '../../api/errors.ts'
import { type Job, startJob } from '../../api/jobs.ts'
import { Command } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Problem, TextField } from '../../parts/field.tsx'
import { formatCount, formatDuration } from '../../parts/format.ts'
import { JobFailures, JobProgress, jobStatus } from '../../parts/job-progress.tsx'

const PER_SECOND = 10
const MAX_DAYS = 36_500

export function RotateDialog(props: {
  days: number
  count: number
  countOlder: (days: number) => number
  onClose: () => void
  onStarted: (job: Job) => void
}) {
  const days = useSignal(String(props.days))
  const problem = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const number = /^\d{1,5}$/.test(days.value) ? Number(days.value) : undefined
  const isValid = number !== undefined && number <= MAX_DAYS
  const count = isValid ? props.countOlder(number) : 0
  const start = async () => {
    if (!isValid || isBusy.value) return
    isBusy.value = true
    try {
      const input = { olderThanSeconds: number * 86_400, perSecond: PER_SECOND }
      props.onStarted(await startJob('key-store.rotate-keys', input))
      props.onClose()
    } catch (error) {
      problem.value =
        error instanceof ApiFailure && error.code === 'job.already_running'
          ? 'A rotation is running already. Wait until it ends, or cancel it.'
          : messageOf(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <Dialog
      title={`Rotate ${formatCount(count, 'key')} older than ${number ?? '…'} days?`}
      onClose={props.onClose}
      onSubmit={() => void start()}
      foot={
        <>
          <button class="button" type="button" onClick={props.onClose}>
            <span>Not now</span>
          </button>
          <button
            class="button button-primary"
            type="submit"
            aria-disabled={!isValid || isBusy.value}
          >
            <span>{`Rotate ${formatCount(count, 'key')}`}</span>
          </button>
        </>
      }
    >
      <TextField
        label="Older than, in days"
        inputMode="numeric"
        value={days.value}
        onInput={(value) => (days.value = value.trim())}
        problem={isValid ? undefined : `Must be a number from 0 to ${MAX_DAYS}`}
        hint="0 rotates every key"
      />
      <ul class="does">
        <li>Each gets a new version that is used from now on.</li>
        <li>Old versions stay, so that what they encrypted still opens.</li>
        <li>
          It takes about {formatDuration(Math.max(1, Math.ceil(count / PER_SECOND)) * 1000)},
          continues after a restart of the server, and can be cancelled at any time.
        </li>
      </ul>
      <Command text={`strongroom keys rotate --all --older-than ${number ?? props.days}d`} />
      {problem.value !== undefined && <Problem>{problem.value}</Problem>}
    </Dialog>
  )
}

export function RotationPanel({ job, onChange }: { job: Job; onChange: (job: Job) => void }) {
  return (
    <section class="panel" aria-labelledby="h-rotation">
      <div class="panel-head">
        <h2 id="h-rotation">Rotation of old keys</h2>
        {jobStatus(job)}
        <a class="push small" href={`/console/server/jobs/${job.id}`}>
          Show job
        </a>
      </div>
      <div class="panel-body">
        <JobProgress job={job} onChange={onChange} />
      </div>
      <JobFailures job={job} />
    </section>
  )
}
