/**
 * The job that rotates every branch key older than an age. It selects some keys with their active
 * versions and stores the selection, then rotates each only if that version is still active: after a
 * crash, and beside a process that lost its lease, no key is rotated twice.
 */
import { extendZodWithOpenApi, z } from '@hono/zod-openapi'
import type { Item } from '@strongroom/kit/db'
import { ApiError } from '@strongroom/kit/errors'
import type { JobFailure, JobKind, JobRun, JobStep } from '@strongroom/kit/jobs/kind'
import type { Clock } from '@strongroom/platform/clock'
import type { AuditedBranchKeys } from './audited.ts'
import type { BranchKeys, BranchKeySummary } from './service.ts'

// Commands load this without routes, and a bundle then has no other reason to run it.
extendZodWithOpenApi(z)

const DEFAULT_PER_SECOND = 10
const MAX_PER_SECOND = 50
const MAX_AGE_SECONDS = 100 * 365 * 86_400
/** Keys that one step counts. */
const COUNTED_KEYS = 1_000
/** Ids have up to 2 KB, and the selection is stored in one item. */
const SELECTED_KEYS = 50
/** So that a step ends long before its lease, also if KMS is slow. */
const ROTATED_KEYS = 10

const RotationInput = z
  .strictObject({
    olderThanSeconds: z.int().min(0).max(MAX_AGE_SECONDS).openapi({
      description:
        'Rotates keys whose active version is older than this when the job starts, and keys whose age is unknown; 0 rotates every key',
    }),
    perSecond: z.int().min(1).max(MAX_PER_SECOND).default(DEFAULT_PER_SECOND),
  })
  .openapi('RotateKeysInput')
type RotationInput = z.infer<typeof RotationInput>

/** Strings only, because it is stored as JSON: both keys of the table are strings. */
type After = Item | undefined

type RotationPosition =
  | { phase: 'count'; after: After; total: number }
  | {
      phase: 'rotate'
      after: After
      total: number
      done: number
      selected: { id: string; version: string }[]
      isLastPage: boolean
    }

export function createRotationJob(deps: {
  branchKeys: Pick<BranchKeys, 'list'>
  auditedKeys: Pick<AuditedBranchKeys, 'rotate'>
  clock: Clock
}): JobKind<RotationInput, RotationPosition> {
  const { branchKeys, auditedKeys, clock } = deps
  type Run = JobRun<RotationInput, RotationPosition>
  type Step = JobStep<RotationPosition>

  /** By its age when the job started, so that with an age of 0 a rotated key is not due again. */
  function isDue({ ageSeconds }: BranchKeySummary, { input, startedAt }: Run): boolean {
    if (ageSeconds === null) return true
    const sinceStart = Math.floor((clock.now() - startedAt) / 1000)
    return ageSeconds - sinceStart >= input.olderThanSeconds
  }

  async function countKeys(job: Run, { after, total }: { after: After; total: number }) {
    const page = await branchKeys.list({ limit: COUNTED_KEYS, after })
    const due = page.items.filter((key) => isDue(key, job)).length
    const counted = total + due + page.unreadable.length
    const position: RotationPosition = page.next
      ? { phase: 'count', after: page.next, total: counted }
      : {
          phase: 'rotate',
          after: undefined,
          total: counted,
          done: 0,
          selected: [],
          isLastPage: false,
        }
    return { position, done: 0, ...(!page.next && { total: counted }) }
  }

  async function selectKeys(
    job: Run,
    position: Extract<RotationPosition, { phase: 'rotate' }>,
  ): Promise<Step> {
    const page = await branchKeys.list({ limit: SELECTED_KEYS, after: position.after })
    const due = page.items.filter((key) => isDue(key, job))
    const failures = page.unreadable.map(({ id, problem }) => ({ target: id, problem }))
    const done = position.done + failures.length
    // Keys that became due or unreadable since they were counted.
    const total = Math.max(position.total, done + due.length)
    const isLastPage = page.next === undefined
    const isOver = isLastPage && due.length === 0
    return {
      position: isOver
        ? undefined
        : {
            phase: 'rotate',
            after: page.next,
            total,
            done,
            selected: due.map(({ id, activeVersion }) => ({ id, version: activeVersion })),
            isLastPage,
          },
      done,
      total: isOver ? done : total,
      counts: { young: page.items.length - due.length, failed: failures.length },
      failures,
    }
  }

  async function rotateSelected(
    { input, by }: Run,
    position: Extract<RotationPosition, { phase: 'rotate' }>,
  ): Promise<Step> {
    const keys = position.selected.slice(0, Math.min(ROTATED_KEYS, input.perSecond))
    const selected = position.selected.slice(keys.length)
    const failures: JobFailure[] = []
    for (const { id, version } of keys) {
      await auditedKeys.rotate(by, id, { activeVersion: version }).catch((error: unknown) => {
        // Without the store or KMS every key would fail, so the step is repeated later.
        if (!(error instanceof ApiError) || error.status === 503) throw error
        // Rotated by this job before a crash, or by somebody else.
        if (error.code === 'key-store.version_race') return
        failures.push({ target: id, problem: error.message })
      })
    }
    const done = position.done + keys.length
    const isOver = position.isLastPage && selected.length === 0
    return {
      position: isOver ? undefined : { ...position, done, selected },
      done,
      total: isOver ? done : position.total,
      counts: { rotated: keys.length - failures.length, failed: failures.length },
      failures,
      waitMs: Math.ceil((keys.length * 1000) / input.perSecond),
    }
  }

  return {
    name: 'key-store.rotate-keys',
    summary: 'Rotate every branch key that is older than an age',
    role: 'editor',
    input: RotationInput,
    async runStep(job) {
      const position = job.position ?? { phase: 'count', after: undefined, total: 0 }
      if (position.phase === 'count') return countKeys(job, position)
      return position.selected.length === 0
        ? selectKeys(job, position)
        : rotateSelected(job, position)
    },
  }
}
