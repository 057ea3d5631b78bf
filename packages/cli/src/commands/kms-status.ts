/** What `strongroom kms status` tells: looks at everything, makes nothing. */
import type { Db } from '@strongroom/kit/db'
import { MasterKeyError } from '@strongroom/kms/master-key-errors'
import { keyCheck } from '@strongroom/kms/master-key'
import type { KeyRecord } from '@strongroom/kms/key-storage'
import { auditFile } from '@strongroom/server/embedded-kms'
import { createKmsKeys } from '@strongroom/server/kms-keys'
import { lookAtMasterKey, masterKeyFile } from '@strongroom/server/master-key'
import { findOwnKey } from '@strongroom/server/own-kms-key'
import type { Settings } from '@strongroom/server/settings'

export interface KmsStatus {
  /** Null before the first start. */
  key: { arn: string; state: string; versions: number; newestVersionAt: string | null } | null
  masterKey: { file: string; protection: 'none' | 'passphrase' | null }
  auditLog: string
  /** Why the key cannot be used, in one line; null if it can, as far as could be seen. */
  problem: string | null
}

export async function kmsStatusOf(db: Db, configured: Settings): Promise<KmsStatus> {
  const storage = createKmsKeys(db)
  const record = await findOwnKey(db, storage)
  const newest = record && (await storage.loadVersion(record.id, record.currentVersion))
  const file = masterKeyFile(configured)
  const { protection, problem } = await masterKeyStatus(configured, record)
  return {
    key: record
      ? {
          arn: record.arn,
          state: record.state,
          versions: record.currentVersion,
          newestVersionAt: newest ? new Date(newest.createdAt).toISOString() : null,
        }
      : null,
    masterKey: { file, protection },
    auditLog: auditFile(configured),
    problem:
      problem ?? (record && record.state !== 'Enabled' ? `The key is ${record.state}` : null),
  }
}

async function masterKeyStatus(configured: Settings, record: KeyRecord | undefined) {
  try {
    const found = await lookAtMasterKey(configured)
    if (!found) return { protection: null, problem: record ? 'The master key is missing' : null }
    const { protection, masterKey } = found
    const fits =
      !record || !masterKey || Buffer.compare(keyCheck(masterKey), record.masterKeyCheck) === 0
    return { protection, problem: fits ? null : 'The key was made with another master key' }
  } catch (error) {
    if (!(error instanceof MasterKeyError)) throw error
    return { protection: null, problem: error.message }
  }
}

export function statusText({ key, masterKey, auditLog, problem }: KmsStatus): string {
  const protection = { none: 'without a passphrase', passphrase: 'protected by a passphrase' }
  const lines = [
    ['Key', key?.arn ?? 'none yet: the first start makes it'],
    ...(key
      ? [
          ['State', key.state],
          ['Versions', `${key.versions}, the newest made ${key.newestVersionAt?.slice(0, 10)}`],
        ]
      : []),
    [
      'Master key',
      masterKey.protection === null
        ? masterKey.file
        : `${masterKey.file}, ${protection[masterKey.protection]}`,
    ],
    ['Audit log', auditLog],
    ...(problem === null ? [] : [['Problem', problem]]),
  ]
  return lines.map(([name = '', value]) => `${name.padEnd(12)}${value}\n`).join('')
}
