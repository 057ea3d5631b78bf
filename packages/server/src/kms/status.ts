/** The state of the embedded KMS, without any key material. Only reads. */
import type { Db } from '@strongroom/kit/db'
import { MasterKeyError } from '@strongroom/kms/master-key/errors'
import { type MasterKey, wrappingBy } from '@strongroom/kms/master-key/key'
import type { KeyRecord, KeyStorage } from '@strongroom/kms/key-storage'
import type { Settings } from '../settings.ts'
import { auditFilePath } from './embedded.ts'
import { createKmsKeyStorage } from './key-storage.ts'
import { inspectMasterKey, masterKeyPath } from './master-key.ts'
import { findOwnKeyId } from './own-key.ts'

export interface KmsStatus {
  /** Null before the first start, and after it was deleted. */
  key: { arn: string; state: string; versions: number; newestVersionAt: string | null } | null
  masterKey: {
    file: string
    protection: 'none' | 'passphrase' | null
    /** The state of a rekey: `decided` cannot be undone; null if none is running. */
    change: 'begun' | 'decided' | null
  }
  auditLog: string
  /** Why the key cannot be used, in one line; null if no problem was found. */
  problem: string | null
}

export async function kmsStatusOf(db: Db, configured: Settings): Promise<KmsStatus> {
  const storage = createKmsKeyStorage(db)
  const id = await findOwnKeyId(db)
  const record = id === undefined ? undefined : await storage.load(id)
  const newest = record && (await storage.loadVersion(record.id, record.currentVersion))
  const { protection, masterKey, problem } = await masterKeyStatus(configured, id)
  const change = await storage.change()
  return {
    key: record
      ? {
          arn: record.arn,
          state: record.state,
          versions: record.currentVersion,
          newestVersionAt: newest ? new Date(newest.createdAt).toISOString() : null,
        }
      : null,
    masterKey: {
      file: masterKeyPath(configured),
      protection,
      change: change ? (change.decided ? 'decided' : 'begun') : null,
    },
    auditLog: auditFilePath(configured),
    problem:
      change?.decided === true
        ? 'A rekey is not finished: the next start finishes it, with the new passphrase if there is one'
        : (problem ?? (id === undefined ? null : await keyProblem(storage, record, masterKey))),
  }
}

async function masterKeyStatus(configured: Settings, id: string | undefined) {
  try {
    const found = await inspectMasterKey(configured)
    const problem = found || id === undefined ? null : 'The master key is missing'
    return { protection: found?.protection ?? null, masterKey: found?.masterKey, problem }
  } catch (error) {
    if (!(error instanceof MasterKeyError)) throw error
    return { protection: null, masterKey: undefined, problem: error.message }
  }
}

/** Why the key cannot be used, as far as that is visible without a passphrase. */
async function keyProblem(
  storage: KeyStorage,
  record: KeyRecord | undefined,
  masterKey: MasterKey | undefined,
): Promise<string | null> {
  if (!record) return 'The key was deleted; nothing that it encrypted can be decrypted'
  const wrapping = masterKey && wrappingBy(masterKey)
  if (wrapping && Buffer.compare(wrapping.check, record.masterKeyCheck) !== 0)
    return 'The key is wrapped by another master key'
  for (let version = 1; version <= record.currentVersion; version++) {
    const stored = await storage.loadVersion(record.id, version)
    if (!stored) return `Version ${version} of the key is missing: restore it from a backup`
    if (wrapping && !wrapping.unwrap(record.id, version, stored.wrapped))
      return `Version ${version} of the key is damaged: restore it from a backup`
  }
  return record.state === 'Enabled' ? null : `The key is ${record.state}`
}
