/** The state of the whole server: what is ready, what is due, what is wrong. */
import type { Log } from '@strongroom/kit/log'
import { createLogThrottle } from '@strongroom/kit/log-throttle'
import type { RunningService, Service } from '@strongroom/kit/service'
import type { Problem, ServiceStatus, WorkStatus } from '@strongroom/kit/service-status'
import type { Table } from '@strongroom/kit/table'
import { type Clock, isRecent } from '@strongroom/platform/clock'
import type { FiguresService } from '../figures/service.ts'
import { checkWithin } from '../health.ts'
import type { OpenKms } from '../kms/open.ts'
import type { Store } from '../store.ts'
import { createBackupRecord, type LastBackup } from './backup.ts'
import {
  backupProblem,
  diskProblem,
  errorProblem,
  inOrder,
  kmsProblem,
  processProblems,
  unreadyProblem,
} from './problems.ts'
import { type ProcessStatus, toProcesses } from './processes.ts'
import { createStorageStatus, type StorageStatus } from './storage.ts'

/** Several operators who look at the same time cost as much as one. */
const CACHE_MS = 5_000
const HOUR_MS = 3_600_000

export type State = 'ready' | 'degraded' | 'not_ready'

export interface ServiceState {
  name: string
  title: string
  state: State
  note: string | undefined
}

export type ServerProblem = Problem & { service: string | undefined }

export interface ServerStatus {
  state: State
  isStoreReady: boolean
  isKmsReady: boolean
  problems: ServerProblem[]
  services: ServiceState[]
  /** Of all services together; undefined if none has background work. */
  work: WorkStatus | undefined
  processes: ProcessStatus[]
  storage: StorageStatus | undefined
  growthPerDayBytes: number | undefined
  backup: LastBackup | undefined
}

export interface StatusDeps {
  store: Pick<Store, 'db' | 'kind' | 'label' | 'location' | 'check' | 'usage'>
  kms: Pick<OpenKms, 'label' | 'location' | 'warning' | 'check'>
  tables: readonly Table[]
  /** Those that run, as they are started. */
  services: () => readonly { service: Pick<Service, 'name' | 'title'>; running: RunningService }[]
  figures: FiguresService
  clock: Clock
  log: Log
}

export function createStatusService(deps: StatusDeps) {
  const { store, kms, figures, clock, log } = deps
  const backups = createBackupRecord(store.db)
  const readStorage = createStorageStatus(deps)
  const throttle = createLogThrottle({ clock })
  const unreadySince: Partial<Record<'store' | 'KMS', number>> = {}
  let cached: { status: Promise<ServerStatus>; readAt: number } | undefined

  async function isReady(part: 'store' | 'KMS', check: () => Promise<void>): Promise<boolean> {
    try {
      await checkWithin(check)
      delete unreadySince[part]
      return true
    } catch {
      unreadySince[part] ??= clock.now()
      return false
    }
  }

  /** Undefined if it fails: the rest of the page matters most when something is broken. */
  async function attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      throttle(what, (suppressed) => log.warn(`${what} could not be read`, { error, suppressed }))
      return undefined
    }
  }

  async function readServices() {
    return Promise.all(
      deps.services().map(async ({ service: { name, title }, running }) => {
        const { status } = running
        if (!status) return { name, title, status: NOTHING_TO_REPORT }
        return { name, title, status: await attempt(`status of ${name}`, () => status()) }
      }),
    )
  }

  async function readErrors() {
    return (await figures.read('1h')).services
  }

  async function growthPerDay(): Promise<number | undefined> {
    const { gauges, stepSeconds } = await figures.read('24h')
    const sizes = gauges.get('store_bytes') ?? []
    const first = sizes.findIndex((value) => value !== null)
    const last = sizes.findLastIndex((value) => value !== null)
    const elapsedMs = (last - first) * stepSeconds * 1000
    if (first < 0 || elapsedMs < HOUR_MS) return undefined
    return Math.max(0, (((sizes[last] ?? 0) - (sizes[first] ?? 0)) * 24 * HOUR_MS) / elapsedMs)
  }

  async function read(): Promise<ServerStatus> {
    const [isStoreReady, isKmsReady] = await Promise.all([
      isReady('store', () => store.check()),
      isReady('KMS', () => kms.check()),
    ])
    const now = clock.now()
    const [services, items, storage, growth, backup, errors] = await Promise.all([
      readServices(),
      attempt('figures', () => figures.processes()),
      attempt('storage', readStorage),
      attempt('growth', growthPerDay),
      attempt('last backup', () => backups.get()),
      attempt('errors', readErrors),
    ])
    const processes = toProcesses(items ?? [], now)
    const storeSince = storage?.recovery?.earliest
    const own: (Problem | undefined)[] = [
      ...(isStoreReady
        ? []
        : [unreadyProblem('store', { ...store, since: unreadySince.store ?? now })]),
      ...(isKmsReady ? [] : [unreadyProblem('KMS', { ...kms, since: unreadySince.KMS ?? now })]),
      kmsProblem(kms.warning),
      ...processProblems(processes),
      backupProblem({ store, backup, storeSince, now }),
      diskProblem(storage?.disk, growth),
    ]
    const reported = services.map(({ status, ...service }) => {
      const current = errors?.get(service.name)?.current
      const failing = current && errorProblem(service.title, current)
      return { ...service, status, problems: [failing ?? [], ...(status?.problems ?? [])].flat() }
    })
    const problems: ServerProblem[] = [
      ...own.flatMap((problem) => (problem ? [{ ...problem, service: undefined }] : [])),
      ...reported.flatMap(({ name, problems: found }) =>
        found.map((problem) => ({ ...problem, service: name })),
      ),
    ]
    const isReadyAtAll = isStoreReady && isKmsReady
    return {
      state: !isReadyAtAll ? 'not_ready' : problems.some(isBad) ? 'degraded' : 'ready',
      isStoreReady,
      isKmsReady,
      problems: inOrder(problems),
      services: reported.map(({ name, title, status, problems: found }) => ({
        name,
        title,
        state: !isReadyAtAll || !status ? 'not_ready' : found.length > 0 ? 'degraded' : 'ready',
        note: status?.note,
      })),
      work: sumWork(services.flatMap(({ status }) => status?.work ?? [])),
      processes,
      storage,
      growthPerDayBytes: growth,
      backup,
    }
  }

  return {
    read(): Promise<ServerStatus> {
      if (!cached || !isRecent(clock, cached.readAt, CACHE_MS)) {
        const status = read()
        cached = { status, readAt: clock.now() }
        status.catch(() => (cached = undefined))
      }
      return cached.status
    },

    /** For figures, which keep them over time. */
    async gauges(): Promise<Record<string, number>> {
      const work = sumWork((await readServices()).flatMap(({ status }) => status?.work ?? []))
      const disk = await store.usage?.()
      return {
        ...(work && {
          work_due: work.due,
          work_waiting: work.waiting,
          work_overdue: work.overdue,
        }),
        ...(disk && { store_bytes: disk.bytes }),
      }
    },
  }
}

export type StatusService = ReturnType<typeof createStatusService>

const NOTHING_TO_REPORT: ServiceStatus = { problems: [] }

const isBad = ({ severity }: Problem) => severity === 'bad'

function sumWork(all: readonly WorkStatus[]): WorkStatus | undefined {
  if (all.length === 0) return undefined
  const oldest = all.flatMap(({ oldestDueAt }) => oldestDueAt ?? [])
  const sum = (of: 'due' | 'waiting' | 'overdue') =>
    all.reduce((total, each) => total + each[of], 0)
  return {
    due: sum('due'),
    waiting: sum('waiting'),
    overdue: sum('overdue'),
    ...(oldest.length > 0 && { oldestDueAt: Math.min(...oldest) }),
    isComplete: all.every(({ isComplete }) => isComplete),
  }
}
