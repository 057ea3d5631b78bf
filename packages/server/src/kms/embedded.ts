/** Opens the embedded KMS on the embedded store, with its master key and its audit log. */
import { join } from 'node:path'
import type { Db } from '@strongroom/kit/db'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { Failure } from '@strongroom/kit/errors'
import { expr } from '@strongroom/kit/expression'
import { serverTable } from '@strongroom/kit/server-table'
import { type AuditFile, openAuditFile } from '@strongroom/kms/audit'
import type { KeyRecord, KeyStorage } from '@strongroom/kms/key-storage'
import { type EmbeddedKms, createKms } from '@strongroom/kms/kms'
import { wrappingBy } from '@strongroom/kms/master-key/key'
import { type RekeyOptions, finishFiles, finishKeys, rekey } from '@strongroom/kms/rekey'
import type { Clock } from '@strongroom/platform/clock'
import type { Settings } from '../settings.ts'
import { createKmsKeyStorage } from './key-storage.ts'
import { findOwnKeyId, OWN_KEY, OwnKeyItem } from './own-key.ts'
import {
  type AskPassphrase,
  kmsDirectory,
  masterKeyPath,
  openMasterKey,
  openOrCreateMasterKey,
} from './master-key.ts'

export interface OpenEmbeddedKms {
  kms: EmbeddedKms
  /** The id of the key that the server encrypts with. */
  id: string
  /** The stored key; undefined if it was deleted. */
  record(): Promise<KeyRecord | undefined>
  /**
   * Replaces the master key, with this passphrase or none. This KMS keeps using the keys that it has in
   * memory; for others, open it again.
   */
  rekey(options: RekeyInput): ReturnType<typeof rekey>
  close(): void
}

export type RekeyInput = Pick<RekeyOptions, 'passphrase' | 'cost'> & {
  /** For the audit log. */
  caller: string
}

export function auditFilePath(settings: Settings): string {
  return join(kmsDirectory(settings), 'kms-audit.log')
}

/** Creates the master key and a key only if there never was a key; fails without changes if anything is wrong. */
export async function openEmbeddedKms(
  db: Db,
  settings: Settings,
  {
    clock,
    askPassphrase,
    mayCreate = true,
  }: {
    clock: Clock
    askPassphrase?: AskPassphrase | undefined
    /** Fails without changes if there never was a key. */
    mayCreate?: boolean | undefined
  },
): Promise<OpenEmbeddedKms> {
  const storage = createKmsKeyStorage(db)
  const file = masterKeyPath(settings)
  await finishFiles(storage, file)
  const isNew = (await storage.list()).length === 0 && (await findOwnKeyId(db)) === undefined
  if (isNew && !mayCreate) {
    throw new Failure(
      'failed',
      'The KMS of this store has no key yet: the first start of the server creates it',
    )
  }
  const masterKey = isNew
    ? await openOrCreateMasterKey(settings, askPassphrase)
    : await openMasterKey(settings, askPassphrase)
  const audit = createLazyAudit(settings)
  const recordRekey = (caller: string, outcome: string) =>
    audit.record({ time: clock.now(), operation: 'ReplaceMasterKey', caller, outcome })
  await finishKeys(storage, wrappingBy(masterKey), () => recordRekey('kms', 'Success'))
  const kms = await createKms({ masterKey, storage, clock, audit: audit.record })
  const id = await ensureOwnKey(db, storage, kms)
  // Processes that run for long also sweep every hour.
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

/** Opened with the first record, so that a failed start leaves no file. */
function createLazyAudit(settings: Settings) {
  let file: AuditFile | undefined
  return {
    record(event: Parameters<AuditFile['audit']>[0]) {
      file ??= openAuditFile(auditFilePath(settings))
      file.audit(event)
    },
    close: () => file?.close(),
  }
}

/** Returns the id of the server's own key, and creates the key if there is none. */
export async function ensureOwnKey(db: Db, storage: KeyStorage, kms: EmbeddedKms): Promise<string> {
  const items = entity(db, serverTable, OwnKeyItem)
  const own = await items.get(OWN_KEY)
  if (own) return own.id
  // An interrupted start may have created the key without recording its id.
  const [oldest] = (await storage.list()).toSorted((a, b) => a.createdAt - b.createdAt)
  const id = oldest?.id ?? (await kms.createKey({ Description: 'Strongroom' })).KeyMetadata.KeyId
  try {
    await items.put({ ...OWN_KEY, id }, expr`attribute_not_exists(${items.attr('PK')})`)
    return id
  } catch (error) {
    if (!(error instanceof ConditionFailed && error.item)) throw error
    const named = items.parse(error.item).id
    // Two servers created a key. Only the recorded one is used, so nothing is encrypted with the other.
    if (!oldest && named !== id) await storage.remove(id, 1)
    return named
  }
}
