/** Jobs for operators: starts and cancels them with an entry in the audit log. */
import type { Clock } from '@strongroom/platform/clock'
import type { AuditActor, AuditLog } from '@strongroom/kit/audit-log'
import type { Db, TransactWriteItem } from '@strongroom/kit/db'
import type { JobItem } from '@strongroom/kit/jobs/item'
import { jobError, type JobKind, serviceOfKind } from '@strongroom/kit/jobs/kind'
import type { JobFile } from '@strongroom/kit/jobs/view'
import type { JobRunner } from '@strongroom/kit/jobs/runner'
import { createJobStore, fileExpiry } from '@strongroom/kit/jobs/store'
import type { Operator } from '@strongroom/kit/operator-item'
import { requireOperatorRole } from '@strongroom/kit/operators'

export type JobService = ReturnType<typeof createJobService>

export function createJobService(deps: {
  db: Db
  clock: Clock
  auditLog: Pick<AuditLog, 'audited'>
  kinds: readonly JobKind[]
  runner: Pick<JobRunner, 'wake'>
}) {
  const { clock, auditLog, runner } = deps
  const store = createJobStore(deps)
  const kinds = new Map(deps.kinds.map((kind) => [kind.name, kind]))

  /** Throws `operator.forbidden` unless the operator may start, cancel and download jobs of a kind. */
  function requireRole(operator: Operator, kind: string): void {
    requireOperatorRole(operator, kinds.get(kind)?.role ?? 'admin', serviceOfKind(kind))
  }

  const isVisible = ({ services }: Operator, { kind }: JobItem) =>
    services?.includes(serviceOfKind(kind)) ?? true

  async function get(operator: Operator, id: string): Promise<JobItem> {
    const job = await store.get(id)
    if (!job || !isVisible(operator, job)) throw jobError('not_found')
    return job
  }

  return {
    get,

    async start(by: AuditActor & { operator: Operator }, kind: string, input: object) {
      const { operator, actor, address } = by
      requireRole(operator, kind)
      const audited = auditLog.audited({
        actor,
        address,
        action: 'server.job.started',
        target: startedJobId,
        after: { kind, ...input },
      })
      const outcome = await store.start({ kind, input, by: { actor, address } }, audited)
      if (outcome.kind === 'running') {
        throw jobError('already_running', { data: { id: outcome.id } })
      }
      runner.wake()
      return outcome.job
    },

    async cancel(by: AuditActor & { operator: Operator }, id: string): Promise<JobItem> {
      const { operator, actor, address } = by
      const { kind } = await get(operator, id)
      requireRole(operator, kind)
      const change = { actor, address, action: 'server.job.cancelled', target: id, after: { kind } }
      const job = await store.cancel(id, { actor, address }, auditLog.audited(change))
      runner.wake()
      return job
    },

    async list(operator: Operator, page: Parameters<typeof store.list>[0]) {
      const { items, next } = await store.list(page)
      return { items: items.filter((job) => isVisible(operator, job)), next }
    },

    fileOf,

    async readFile(operator: Operator, id: string) {
      const job = await get(operator, id)
      requireRole(operator, job.kind)
      const file = fileOf(job)
      if (!file) throw jobError('no_result')
      return { file, parts: store.readFile(job) }
    },
  }

  function fileOf(job: JobItem): JobFile | undefined {
    const expiresAt = fileExpiry(job)
    if (expiresAt === undefined || expiresAt * 1000 <= clock.now()) return undefined
    const input = JSON.parse(job.input) as object
    const file = kinds.get(job.kind)?.file?.({ input, createdAt: job.createdAt })
    return file && { ...file, bytes: job.bytes, expiresAt }
  }
}

/** The store chooses the id. */
function startedJobId(parts: readonly TransactWriteItem[]): string | undefined {
  const ids = parts.map(({ Put }) => Put?.Item['jobId'])
  return ids.find((id) => typeof id === 'string')
}
