/** `strongroom jobs …`: long work that operators started on a server. */
import { systemClock } from '@strongroom/platform/clock'
import { createServiceClient, requiredServerOption } from '../api-client.ts'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { columns, escapeControls, formatRelative, pluralize } from '../output.ts'
import { type Job, progressText } from '../server/follow-job.ts'

const jobsList: Command = {
  name: 'jobs list',
  kind: 'client',
  summary: 'List jobs of the server, newest first',
  options: requiredServerOption,
  about: 'Lists the newest 100. Jobs are kept for 30 days after they ended.',
  async run(input) {
    const api = createServiceClient(input, 'server')
    const { items } = await api<{ items: Job[] }>('GET', '/jobs?limit=100')
    const rows = items.map((job) => [
      job.id,
      job.kind,
      stateText(job),
      progressText(job),
      formatRelative(job.createdAt, systemClock.now()),
      job.createdBy,
    ])
    input.output.result(columns(rows) || 'There are no jobs\n', items)
  },
}

const jobsShow: Command = {
  name: 'jobs show',
  kind: 'client',
  args: 'JOB',
  summary: 'Show a job: progress, counts, failures',
  options: requiredServerOption,
  async run(input) {
    const job = await createServiceClient(input, 'server')<Job>('GET', pathOf(input))
    input.output.result(jobText(job), job)
  },
}

const jobsCancel: Command = {
  name: 'jobs cancel',
  kind: 'client',
  args: 'JOB',
  summary: 'Cancel a job; what it has done stays done',
  options: requiredServerOption,
  about: 'The job ends after its current step, usually within seconds.',
  async run(input) {
    const path = `${pathOf(input)}/cancel`
    const job = await createServiceClient(input, 'server')<Job>('POST', path)
    input.output.result('The job ends after its current step\n', job)
  },
}

function pathOf({ args: [id = ''] }: CommandInput): string {
  if (/^job_[0-9A-Z]{26}$/.test(id)) return `/jobs/${id}`
  throw usageError('JOB must be an id, job_ and 26 characters: see "strongroom jobs list"')
}

function stateText({ state, cancelledBy }: Job): string {
  return state === 'running' && cancelledBy !== null ? 'ending' : state
}

function jobText(job: Job): string {
  const counts = Object.entries(job.counts).map(([name, count]) => `${count} ${name}`)
  const more = (job.counts['failed'] ?? 0) - job.failures.length
  return [
    `${job.id}  ${job.kind}\n`,
    `  State       ${stateText(job)}${job.problem === null ? '' : `: ${escapeControls(job.problem)}`}\n`,
    `  Progress    ${progressText(job)}${counts.length > 0 ? ` (${counts.join(', ')})` : ''}\n`,
    `  Started     ${job.createdAt} by ${escapeControls(job.createdBy)}\n`,
    ...(job.endedAt === null ? [] : [`  Ended       ${job.endedAt}\n`]),
    ...job.failures.map(
      ({ target, problem }) => `  ${escapeControls(target)}: ${escapeControls(problem)}\n`,
    ),
    more > 0 ? `  and ${pluralize(more, 'other failure')}\n` : '',
  ].join('')
}

export const commands: readonly Command[] = [jobsList, jobsShow, jobsCancel]
