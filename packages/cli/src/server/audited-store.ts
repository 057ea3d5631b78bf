/** The store for a command that changes something, with the audit log of operators. */
import { type AuditActor, type AuditLog, createAuditLog } from '@strongroom/kit/audit-log'
import type { Table } from '@strongroom/kit/table'
import { systemClock } from '@strongroom/platform/clock'
import type { OpenEmbeddedKms } from '@strongroom/server/kms/embedded'
import { openLocalKms } from '@strongroom/server/kms/local'
import { openKms, type OpenKms } from '@strongroom/server/kms/open'
import { localActor } from '@strongroom/server/local-actor'
import { type Settings, settings } from '@strongroom/server/settings'
import type { Store } from '@strongroom/server/store'
import { requireAuditLog, requireTables } from '@strongroom/server/tables'
import type { CommandInput } from '../command.ts'
import { askMasterKeyPassphrase } from '../input.ts'
import { requireEmbeddedKms, withStore } from '../store.ts'

export interface AuditedStore {
  store: Store
  configured: Settings
  auditLog: AuditLog
  by: AuditActor
}

export async function withAuditedStore<T>(
  input: CommandInput,
  tables: readonly Table[],
  work: (on: AuditedStore) => Promise<T>,
): Promise<T> {
  return withStore(input, async (store, configured) => {
    await requireTables(store, tables)
    await requireAuditLog(store)
    const auditLog = createAuditLog({ db: store.db, clock: systemClock })
    return work({ store, configured, auditLog, by: localActor() })
  })
}

/** Also opens the configured KMS. */
export async function withAuditedKms<T>(
  input: CommandInput,
  work: (on: AuditedStore & { kms: OpenKms }) => Promise<T>,
): Promise<T> {
  return withAuditedStore(input, [], async (on) => {
    const kms = await openKms(on.configured, on.store, kmsOptions(input))
    try {
      return await work({ ...on, kms })
    } finally {
      await kms.close()
    }
  })
}

/** For commands that only the embedded KMS supports. */
export async function withAuditedEmbeddedKms<T>(
  input: CommandInput,
  work: (on: AuditedStore & { embedded: Omit<OpenEmbeddedKms, 'close'> }) => Promise<T>,
): Promise<T> {
  requireEmbeddedKms(settings.parse(input.env))
  return withAuditedStore(input, [], async (on) => {
    const embedded = await openLocalKms(on.configured, on.store, kmsOptions(input))
    try {
      return await work({ ...on, embedded })
    } finally {
      await embedded.close()
    }
  })
}

function kmsOptions({ json }: CommandInput) {
  return { clock: systemClock, askPassphrase: askMasterKeyPassphrase({ json }) }
}
