/** The master key file of the embedded KMS: its path, and opening it at a start. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isMasterKeyError, MasterKeyError } from '@strongroom/kms/master-key/errors'
import { createMasterKeyFile, openMasterKeyFile } from '@strongroom/kms/master-key/file'
import type { MasterKey } from '@strongroom/kms/master-key/key'
import type { Settings } from '../settings.ts'

/** Asks for the passphrase on a terminal. */
export type AskPassphrase = () => Promise<string>

/** The files of the embedded KMS outside the store. */
export function kmsDirectory({ STRONGROOM_DATA: data }: Settings): string {
  return resolve(data, 'keys')
}

export function masterKeyPath(settings: Settings): string {
  return resolve(settings.STRONGROOM_MASTER_KEY_FILE ?? join(kmsDirectory(settings), 'master.key'))
}

export async function openMasterKey(
  settings: Settings,
  askPassphrase?: AskPassphrase,
): Promise<MasterKey> {
  const file = masterKeyPath(settings)
  const { STRONGROOM_MASTER_KEY_PASSPHRASE: passphrase } = settings
  try {
    return await openMasterKeyFile(file, { passphrase })
  } catch (error) {
    if (isMasterKeyError(error, 'MasterKeyMissing')) {
      throw new MasterKeyError(
        'MasterKeyMissing',
        `The master key file "${file}" is missing, and without it nothing opens what the KMS has encrypted: put it back, or set STRONGROOM_MASTER_KEY_FILE`,
      )
    }
    if (!isMasterKeyError(error, 'PassphraseNeeded')) throw error
    if (askPassphrase) return openMasterKeyFile(file, { passphrase: await askPassphrase() })
    throw new MasterKeyError(
      'PassphraseNeeded',
      `The master key file "${file}" is protected by a passphrase: set STRONGROOM_MASTER_KEY_PASSPHRASE_FILE or STRONGROOM_MASTER_KEY_PASSPHRASE`,
    )
  }
}

/**
 * For a store without keys. A file that exists is used, also in a directory that cannot be written to.
 * Two processes that create it at the same time get the same one.
 */
export async function openOrCreateMasterKey(
  settings: Settings,
  askPassphrase?: AskPassphrase,
): Promise<MasterKey> {
  const { STRONGROOM_MASTER_KEY_PASSPHRASE: passphrase } = settings
  const file = masterKeyPath(settings)
  if (existsSync(file)) return openMasterKey(settings, askPassphrase)
  try {
    return await createMasterKeyFile(file, { passphrase })
  } catch (error) {
    if (!isMasterKeyError(error, 'MasterKeyExists')) throw error
    return openMasterKey(settings, askPassphrase)
  }
}

/**
 * The master key, without asking for its passphrase; undefined if there is no file. If the passphrase
 * is missing, only the protection is known.
 */
export async function inspectMasterKey(
  settings: Settings,
): Promise<{ protection: 'none' | 'passphrase'; masterKey: MasterKey | undefined } | undefined> {
  const file = masterKeyPath(settings)
  const { STRONGROOM_MASTER_KEY_PASSPHRASE: passphrase } = settings
  try {
    return { protection: 'none', masterKey: await openMasterKeyFile(file) }
  } catch (error) {
    if (isMasterKeyError(error, 'MasterKeyMissing')) return undefined
    if (!isMasterKeyError(error, 'PassphraseNeeded')) throw error
  }
  const masterKey =
    passphrase === undefined ? undefined : await openMasterKeyFile(file, { passphrase })
  return { protection: 'passphrase', masterKey }
}
