/** The state of the server as responses and commands show it. */
import type { OpenKms } from '../kms/open.ts'
import type { Store } from '../store.ts'
import type { ServerStatusView } from './routes.ts'
import type { ServerStatus } from './service.ts'

export interface AboutServer {
  version: string
  startedAt: number
  address: string
  store: Pick<Store, 'kind' | 'label' | 'location'>
  kms: Pick<OpenKms, 'kind' | 'label' | 'location'>
}

export function toStatusView(status: ServerStatus, about: AboutServer): ServerStatusView {
  const { problems, services, work, processes, storage, backup = null } = status
  return {
    state: status.state,
    version: about.version,
    startedAt: isoTime(about.startedAt),
    address: about.address,
    problems: problems.map(
      ({ severity, service = null, title, explanation, since, page = null, command = null }) => ({
        severity,
        service,
        title,
        explanation,
        since: isoTimeIfAny(since),
        page,
        command,
      }),
    ),
    store: toPart(about.store, status.isStoreReady),
    kms: toPart(about.kms, status.isKmsReady),
    services: services.map(({ note = null, ...service }) => ({ ...service, note })),
    work: work ? { ...work, oldestDueAt: isoTimeIfAny(work.oldestDueAt) } : null,
    processes: processes.map(({ isMissing, startedAt, seenAt, ...process }) => ({
      ...process,
      startedAt: isoTime(startedAt),
      seenAt: isoTime(seenAt),
      state: isMissing ? ('not_seen' as const) : ('running' as const),
    })),
    storage: storage
      ? {
          bytes: storage.disk?.bytes ?? null,
          freeBytes: storage.disk?.freeBytes ?? null,
          totalBytes: storage.disk?.totalBytes ?? null,
          growthPerDayBytes: status.growthPerDayBytes ?? null,
          tables: storage.tables,
          recovery: storage.recovery
            ? { days: storage.recovery.days, earliest: isoTimeIfAny(storage.recovery.earliest) }
            : null,
        }
      : null,
    backup,
  }
}

function toPart<Part extends AboutServer['store'] | AboutServer['kms']>(
  { kind, label, location }: Part,
  isReady: boolean,
) {
  return { kind, label, location, state: isReady ? ('ready' as const) : ('not_ready' as const) }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

function isoTimeIfAny(ms: number | undefined): string | null {
  return ms === undefined ? null : isoTime(ms)
}
