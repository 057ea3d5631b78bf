/** `strongroom keys rotate`: one branch key, or all that are older than an age. */
import { rotateAll, type RotationSummary } from '@strongroom/key-store/branch-keys/rotate-all'
import { type ApiClient, createOperatorClientIfRequested } from '../api-client.ts'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { startAndFollowJob } from '../server/follow-job.ts'
import { parseDuration, formatAge, pluralize, escapeControls } from '../output.ts'
import { stopSignal } from '../stop-signal.ts'
import { type KeyAccess, withKeys } from './access.ts'

const FAILED = 1
/** The exit code that shells use for SIGINT. */
const INTERRUPTED = 130
/** `--json` lists all. */
const MAX_SHOWN = 20

export const keysRotate: Command = {
  name: 'keys rotate',
  kind: 'either',
  args: '[ID]',
  summary: 'Rotate a branch key, or all keys older than an age',
  options: {
    all: { summary: 'Rotate every key that is older than --older-than' },
    'older-than': { value: 'AGE', summary: 'Age for --all, such as 90d, 36h or 0d' },
  },
  about: `Older versions stay, so that data encrypted with them can be decrypted. With --all, a key whose
creation time cannot be read counts as old, and a key that another process rotates concurrently
counts as rotated. Ctrl+C stops after the current key (exit code ${INTERRUPTED}); run it again to
continue, because rotated keys are no longer old. Through a server, --all is a job that the server
runs, ten keys per second: Ctrl+C cancels it, and "strongroom jobs" shows it.`,
  async run(input) {
    const olderThanSeconds = parseMinAge(input)
    if (olderThanSeconds === undefined) return withKeys(input, (keys) => rotateOne(input, keys))
    const stopping = new AbortController()
    void stopSignal().then(() => stopping.abort())
    const server = createOperatorClientIfRequested(input, 'server')
    if (server) return rotateByJob(input, server, olderThanSeconds, stopping.signal)
    return withKeys(input, (keys) => rotateOld(input, keys, olderThanSeconds, stopping.signal))
  },
}

async function rotateOne({ args, output }: CommandInput, keys: KeyAccess): Promise<void> {
  const id = args[0] ?? ''
  const { version } = await keys.rotate(id)
  output.result(`${version}\n`, { id, version })
}

async function rotateOld(
  { output }: CommandInput,
  keys: KeyAccess,
  olderThanSeconds: number,
  stop: AbortSignal,
): Promise<number> {
  await keys.ready()
  let number = 0
  const summary = await rotateAll(keys, {
    olderThanSeconds,
    stop,
    onKey: ({ id, ageSeconds, outcome }) => {
      const words = { rotated: 'rotated', raced: 'rotated concurrently', failed: 'FAILED' }
      const age = ageSeconds === null ? 'age unknown' : `${formatAge(ageSeconds)} old`
      output.progress(`${++number}. ${escapeControls(id)} (${age}): ${words[outcome]}`)
    },
  })
  output.result(summaryText(summary), summary)
  if (summary.stopped) return INTERRUPTED
  return summary.failed.length > 0 ? FAILED : 0
}

async function rotateByJob(
  { output }: CommandInput,
  server: ApiClient,
  olderThanSeconds: number,
  stop: AbortSignal,
): Promise<number> {
  const input = { olderThanSeconds }
  const job = await startAndFollowJob(
    server,
    { kind: 'key-store.rotate-keys', input },
    stop,
    output,
  )
  const { rotated = 0, young = 0, failed = 0 } = job.counts
  const failures = job.failures.map(({ target, problem }) => ({ id: target, problem }))
  const stopped = job.state === 'cancelled'
  const summary = { rotated, young, failed: failures, stopped }
  output.result(summaryText(summary, failed), { ...summary, job: job.id })
  if (stopped) return INTERRUPTED
  return failed > 0 || job.state === 'failed' ? FAILED : 0
}

function summaryText(
  { rotated, young, failed, stopped }: RotationSummary,
  failedCount = failed.length,
): string {
  const shown = failed
    .slice(0, MAX_SHOWN)
    .map(({ id, problem }) => `  ${escapeControls(id)}: ${escapeControls(problem)}\n`)
  const rest = failedCount - shown.length
  return [
    `${pluralize(rotated, 'key')} rotated, ${young} young enough, ${failedCount} failed\n`,
    ...shown,
    rest > 0 ? `  and ${rest} more: --json lists all\n` : '',
    stopped ? 'Interrupted: run the same command again to continue\n' : '',
  ].join('')
}

/** The age in seconds for --all; undefined for one key. */
function parseMinAge({ args, options }: CommandInput): number | undefined {
  const { all, 'older-than': age } = options
  if (all !== true) {
    if (age !== undefined) throw usageError('--older-than requires --all')
    if (args.length === 0) throw usageError('Missing key: pass its ID, or --all with --older-than')
    return undefined
  }
  if (args.length > 0) throw usageError('Use either an ID or --all, not both')
  if (typeof age !== 'string')
    throw usageError('--all needs --older-than, such as 90d; 0d rotates every key')
  return parseDuration('older-than', age)
}
