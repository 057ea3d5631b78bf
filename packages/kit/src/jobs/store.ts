/** Reads and writes of jobs. Who may run a step, and whether a job is running, one write decides. */
import { randomUUID } from 'node:crypto'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { AuditActor } from '../audit-log.ts'
import type { Db, Item, Value } from '../db.ts'
import { ConditionFailed } from '../db-errors.ts'
import { entity } from '../entity.ts'
import { Attr, expr, Expression } from '../expression.ts'
import { createUlids } from '../ids.ts'
import { operationsTable } from '../operations-table.ts'
import type { Page } from '../paging.ts'
import { transactParts } from '../transact.ts'
import {
  chunkKey,
  JobChunkItem,
  JobItem,
  jobKey,
  type JobState,
  MAX_FAILURE_CHARACTERS,
  MAX_FAILURES,
  RunningJobItem,
  runningKey,
} from './item.ts'
import { jobError, type JobStep } from './kind.ts'

const RETENTION_SECONDS = 30 * 86_400
/** Long enough to download it, short enough not to fill the table. */
export const FILE_RETENTION_SECONDS = 7 * 86_400

/** An item of DynamoDB has at most 400 KB. */
const MAX_CHUNK_BYTES = 256 * 1024
const MAX_CHUNKS = 1_000

export type JobStore = ReturnType<typeof createJobStore>

/** A job whose step this process runs. */
export type LeasedJob = JobItem & { leaseId: string }

const newUlid = createUlids()

export function createJobStore({ db, clock }: { db: Db; clock: Clock }) {
  const jobs = entity(db, operationsTable, JobItem)
  const running = entity(db, operationsTable, RunningJobItem)
  const chunks = entity(db, operationsTable, JobChunkItem)
  const { attr } = jobs
  const isRunning = expr`${attr('state')} = ${'running' as const}`
  const isKept = ({ expiresAt }: { expiresAt?: number | undefined }) =>
    expiresAt === undefined || expiresAt > epochSeconds(clock)
  const isLeased = ({ leaseId }: LeasedJob) => expr`${attr('leaseId')} = ${leaseId}`

  async function get(id: string): Promise<JobItem | undefined> {
    const job = await jobs.get(jobKey(id))
    return job && isKept(job) ? job : undefined
  }

  /** Writes the output as chunks; a repeated step writes the same chunks again. */
  async function appendOutput(job: LeasedJob, output: Uint8Array) {
    let number = job.chunks
    for (let at = 0; at < output.length; at += MAX_CHUNK_BYTES) {
      if (number >= MAX_CHUNKS) throw jobError('output_too_large')
      await chunks.put({
        ...chunkKey(job.SK, number++),
        data: output.subarray(at, at + MAX_CHUNK_BYTES),
        expiresAt: epochSeconds(clock) + FILE_RETENTION_SECONDS,
      })
    }
    return { chunks: number, bytes: job.bytes + output.length }
  }

  return {
    get,

    /** On `on`, so that the entry of the audit log is part of the transaction. */
    async start(
      { kind, input, by }: { kind: string; input: object; by: AuditActor },
      on: Db = db,
    ): Promise<{ kind: 'started'; job: JobItem } | { kind: 'running'; id: string }> {
      const now = new Date(clock.now()).toISOString()
      const job: JobItem = {
        ...jobKey(`job_${newUlid(clock.now())}`),
        kind,
        state: 'running',
        input: JSON.stringify(input),
        done: 0,
        counts: {},
        failures: [],
        chunks: 0,
        bytes: 0,
        createdAt: now,
        createdBy: by.actor,
        ...(by.address !== undefined && { address: by.address }),
        updatedAt: now,
        dueAt: clock.now(),
        attempts: 0,
      }
      const isFree = expr`attribute_not_exists(${running.attr('PK')})`
      const outcome = await transactParts(on, {
        running: running.part.put({ ...runningKey(kind), jobId: job.SK }, isFree),
        job: jobs.part.put(job),
      })
      if (outcome.kind === 'done') return { kind: 'started', job }
      const other = outcome.by.get('running')
      if (!other) throw new TypeError('A new job was refused without a running one')
      return { kind: 'running', id: running.parse(other).jobId }
    },

    /** Newest first. */
    async list({
      limit,
      after,
    }: {
      limit: number
      after?: Item | undefined
    }): Promise<Page<JobItem>> {
      const page = await jobs.query({
        key: expr`${attr('PK')} = ${'JOBS' as const}`,
        newestFirst: true,
        limit,
        after,
      })
      return { ...page, items: page.items.filter(isKept) }
    },

    /** The ids of the running jobs by kind. */
    async listRunning(): Promise<Map<string, string>> {
      const key = expr`${running.attr('PK')} = ${'JOBS#RUNNING' as const}`
      const { items } = await running.query({ key })
      return new Map(items.map(({ SK, jobId }) => [SK, jobId]))
    },

    /** Takes the lease of the next step; undefined if it is not due or another process has it. */
    async claim(id: string, leaseMs: number): Promise<LeasedJob | undefined> {
      const [lease, due, attempts] = [attr('leaseId'), attr('dueAt'), attr('attempts')]
      const now = clock.now()
      const leaseId = randomUUID()
      // A cancelled job does not wait for its next step.
      const isDue = expr`${isRunning} AND (${due} <= ${now}
        OR (attribute_exists(${attr('cancelledBy')}) AND attribute_not_exists(${lease})))`
      const job = await jobs
        .update(
          jobKey(id),
          expr`SET ${lease} = ${leaseId}, ${due} = ${now + leaseMs}, ${attempts} = ${attempts} + ${1}`,
          isDue,
        )
        .catch(undefinedIfRefused)
      return job && { ...job, leaseId }
    },

    /**
     * Stores the results of a step, if it has any, and what follows. Returns undefined, and stores
     * nothing, if the lease was lost.
     */
    async settle(
      job: LeasedJob,
      { results, next }: { results?: JobStep<object>; next: NextState },
    ): Promise<JobState | undefined> {
      const output = results?.output && (await appendOutput(job, results.output))
      const now = new Date(clock.now()).toISOString()
      const isEnded = next.state !== 'running'
      const position = results?.position && JSON.stringify(results.position)
      const changed: Partial<JobItem> = {
        ...(results && {
          done: results.done,
          total: results.total ?? job.total,
          counts: addCounts(job.counts, results.counts ?? {}),
          failures: [...job.failures, ...(results.failures ?? []).map(shorten)].slice(
            0,
            MAX_FAILURES,
          ),
          position: isEnded ? undefined : position,
        }),
        ...output,
        state: next.state,
        problem: next.problem,
        attempts: results ? 0 : job.attempts,
        updatedAt: now,
        leaseId: undefined,
        ...(isEnded
          ? { endedAt: now, dueAt: undefined, expiresAt: epochSeconds(clock) + RETENTION_SECONDS }
          : { dueAt: clock.now() + next.waitMs }),
      }
      const written = await transactParts(db, {
        job: jobs.part.update(jobKey(job.SK), assign(changed), isLeased(job)),
        ...(isEnded && { running: running.part.delete(runningKey(job.kind)) }),
      })
      return written.kind === 'done' ? next.state : undefined
    },

    /** On `on`, so that the entry of the audit log is part of the write. */
    async cancel(id: string, by: AuditActor, on: Db): Promise<JobItem> {
      const job = await get(id)
      if (!job) throw jobError('not_found')
      if (job.cancelledBy !== undefined && job.state === 'running') return job
      return entity(on, operationsTable, JobItem)
        .update(jobKey(id), expr`SET ${attr('cancelledBy')} = ${by.actor}`, isRunning)
        .catch((error: unknown) => {
          throw error instanceof ConditionFailed ? jobError('ended') : error
        })
    },

    /** The parts of the file, in order. */
    async *readFile({ SK, chunks: count }: JobItem): AsyncGenerator<Uint8Array> {
      for (let number = 0; number < count; number++) {
        const chunk = await chunks.get(chunkKey(SK, number))
        if (!chunk || !isKept(chunk)) throw jobError('no_result')
        yield chunk.data
      }
    },
  }
}

type NextState =
  | { state: 'running'; waitMs: number; problem?: string }
  | { state: Exclude<JobState, 'running'>; problem?: string }

/** When the file of a job expires, in seconds since the epoch; undefined if it has none. */
export function fileExpiry({ state, chunks, endedAt }: JobItem): number | undefined {
  if (state !== 'done' || chunks === 0 || endedAt === undefined) return undefined
  return Math.floor(Date.parse(endedAt) / 1000) + FILE_RETENTION_SECONDS
}

/** Sets the attributes, and removes those that are undefined. */
function assign(changed: Partial<JobItem>): Expression {
  const given = Object.entries(changed).filter(([, value]) => value !== undefined)
  const missing = Object.keys(changed).filter(
    (name) => changed[name as keyof JobItem] === undefined,
  )
  const text = [
    'SET ',
    ...given.slice(1).flatMap(() => [' = ', ', ']),
    ' = ',
    ' REMOVE ',
    ...missing.slice(1).map(() => ', '),
    '',
  ]
  const parts = [
    ...given.flatMap(([name, value]) => [new Attr<unknown>([name]), value as Value]),
    ...missing.map((name) => new Attr<unknown>([name])),
  ]
  return new Expression(text, parts)
}

function addCounts(counts: JobItem['counts'], more: Readonly<Record<string, number>>) {
  const sums = { ...counts }
  for (const [name, count] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + count
  return sums
}

function shorten({ target, problem }: JobItem['failures'][number]) {
  const cut = (text: string) =>
    text.length <= MAX_FAILURE_CHARACTERS ? text : `${text.slice(0, MAX_FAILURE_CHARACTERS - 1)}…`
  return { target: cut(target), problem: cut(problem) }
}

function undefinedIfRefused(error: unknown): undefined {
  if (!(error instanceof ConditionFailed)) throw error
}
