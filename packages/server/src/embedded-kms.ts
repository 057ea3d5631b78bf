/** Opens the embedded KMS on the embedded store, with its master key and its audit log. */
import { join } from 'node:path'
import type { Clock } from '@strongroom/kit/clock'
import type { Db } from '@strongroom/kit/db'
import { openAuditFile, type AuditFile } from '@strongroom/kms/audit-file'
import type { KeyRecord } from '@strongroom/kms/key-storage'
import { createKms, type EmbeddedKms } from '@strongroom/kms/kms'
import { wrappingBy } from '@strongroom/kms/master-key'
import { finishFiles, finishKeys, rekey, type RekeyOptions } from '@strongroom/kms/rekey'
import { createKmsKeys } from './kms-keys.ts'
import {
  type AskPassphrase,
  kmsDirectory,
  masterKeyFile,
  openMasterKey,
  openOrCreateMasterKey,
} from './master-key.ts'
import { ensureOwnKey, findOwnKeyId } from './own-kms-key.ts'
import type { Settings } from './settings.ts'

export interface OpenEmbeddedKms {
  kms: EmbeddedKms
  /** The id of the key that the server encrypts with. */
  id: string
  /** As it is stored now; undefined if it was deleted. */
  record(): Promise<KeyRecord | undefined>
  /**
   * Puts another master key in the place of the present one, with this passphrase or none. This KMS
   * goes on with what it has in memory; what it does not have takes another one.
   */
  rekey(options: RekeyInput): ReturnType<typeof rekey>
  close(): void
}

export type RekeyInput = Pick<RekeyOptions, 'passphrase' | 'cost'> & {
  /** For the audit log. */
  caller: string
}

export function auditFile(settings: Settings): string {
  return join(kmsDirectory(settings), 'kms-audit.log')
}

/** Makes master key and key only where there never was a key; anything wrong is refused, unchanged. */
export async function openEmbeddedKms(
  db: Db,
  settings: Settings,
  { clock, askPassphrase }: { clock: Clock; askPassphrase?: AskPassphrase | undefined },
): Promise<OpenEmbeddedKms> {
  const storage = createKmsKeys(db)
  const file = masterKeyFile(settings)
  await finishFiles(storage, file)
  const isNew = (await storage.list()).length === 0 && (await findOwnKeyId(db)) === undefined
  const masterKey = isNew
    ? await openOrCreateMasterKey(settings, askPassphrase)
    : await openMasterKey(settings, askPassphrase)
  const audit = lazyAudit(settings)
  const recordRekey = (caller: string, outcome: string) =>
    audit.record({ time: clock.now(), operation: 'ReplaceMasterKey', caller, outcome })
  await finishKeys(storage, wrappingBy(masterKey), () => recordRekey('kms', 'Success'))
  const kms = await createKms({ masterKey, storage, clock, audit: audit.record })
  const id = await ensureOwnKey(db, storage, kms)
  // A key that nobody touches any more goes at its date too, or with the next start after it.
  await kms.sweep()
  return {
    kms,
    id,
    record: () => storage.load(id),
    async rekey({ caller, ...protection }) {
      const changed = () => recordRekey(caller, 'Success')
      try {
        return await rekey({ storage, file, masterKey, changed, ...protection })
      } catch (error) {
        recordRekey(caller, error instanceof Error ? error.name : 'Error')
        throw error
      }
    },
    close: audit.close,
  }
}

/** Opened with the first record, so that a KMS that is refused leaves no file behind. */
function lazyAudit(settings: Settings) {
  let file: AuditFile | undefined
  return {
    record(event: Parameters<AuditFile['audit']>[0]) {
      file ??= openAuditFile(auditFile(settings))
      file.audit(event)
    },
    close: () => file?.close(),
  }
}
