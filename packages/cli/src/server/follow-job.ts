/** Starts a job of a server and follows it until it ends. */
import { ApiError } from '@strongroom/kit/errors'
import type { ApiClient } from '../api-client.ts'
import type { Output } from '../command.ts'

/** What commands need of `JobView`. */
export interface Job {
  id: string
  kind: string
  state: 'running' | 'done' | 'failed' | 'cancelled'
  done: number
  total: number | null
  counts: Record<string, number>
  failures: { target: string; problem: string }[]
  createdAt: string
  createdBy: string
  endedAt: string | null
  cancelledBy: string | null
  problem: string | null
}

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 2_000

export async function startAndFollowJob(
  api: ApiClient,
  request: { kind: string; input: object },
  /** Cancels the job. */
  stop: AbortSignal,
  output: Pick<Output, 'progress'>,
): Promise<Job> {
  let job = await api<Job>('POST', '/jobs', request)
  let shown = ''
  let isCancelled = false
  for (let pauseMs = FIRST_PAUSE_MS; job.state === 'running'; pauseMs *= 2) {
    await pause(Math.min(pauseMs, MAX_PAUSE_MS), isCancelled ? undefined : stop)
    if (stop.aborted && !isCancelled) {
      isCancelled = true
      pauseMs = FIRST_PAUSE_MS
      await api('POST', `/jobs/${job.id}/cancel`).catch(unlessEnded)
    }
    job = await api<Job>('GET', `/jobs/${job.id}`)
    const progress = progressText(job)
    if (progress !== shown && job.state === 'running') output.progress(progress)
    shown = progress
  }
  return job
}

export function progressText({ done, total }: Pick<Job, 'done' | 'total'>): string {
  return total === null ? `${done} done` : `${done} of ${total} done`
}

/** Resolves after the time, or when the signal fires. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })
}

function unlessEnded(error: unknown): void {
  if (!(error instanceof ApiError) || error.code !== 'job.ended') throw error
}
