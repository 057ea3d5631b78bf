/** The master key of the embedded KMS: where it is, and how it is had at a start. */
import { join, resolve } from 'node:path'
import {
  MasterKeyExists,
  MasterKeyMissing,
  PassphraseNeeded,
} from '@strongroom/kms/master-key-errors'
import { createMasterKeyFile, openMasterKeyFile } from '@strongroom/kms/master-key-file'
import type { MasterKey } from '@strongroom/kms/master-key'
import type { Settings } from './settings.ts'

/** Asks a person for the passphrase; only where there is a terminal. */
export type AskPassphrase = () => Promise<string>

/** What the embedded KMS keeps beside the store. */
export function kmsDirectory({ STRONGROOM_DATA: data }: Settings): string {
  return resolve(data, 'keys')
}

export function masterKeyFile(settings: Settings): string {
  return resolve(settings.STRONGROOM_MASTER_KEY_FILE ?? join(kmsDirectory(settings), 'master.key'))
}

export async function openMasterKey(
  settings: Settings,
  askPassphrase?: AskPassphrase,
): Promise<MasterKey> {
  const file = masterKeyFile(settings)
  const { STRONGROOM_MASTER_KEY_PASSPHRASE: passphrase } = settings
  try {
    return await openMasterKeyFile(file, { passphrase })
  } catch (error) {
    if (error instanceof MasterKeyMissing) {
      throw new MasterKeyMissing(
        `The master key file "${file}" is missing, and without it nothing opens what the KMS has encrypted: put it back, or set STRONGROOM_MASTER_KEY_FILE`,
      )
    }
    if (!(error instanceof PassphraseNeeded)) throw error
    if (askPassphrase) return openMasterKeyFile(file, { passphrase: await askPassphrase() })
    throw new PassphraseNeeded(
      `The master key file "${file}" is protected by a passphrase: set STRONGROOM_MASTER_KEY_PASSPHRASE_FILE or STRONGROOM_MASTER_KEY_PASSPHRASE`,
    )
  }
}

/** For a store without keys. Of two processes that make it at once both get the same one. */
export async function openOrCreateMasterKey(
  settings: Settings,
  askPassphrase?: AskPassphrase,
): Promise<MasterKey> {
  const { STRONGROOM_MASTER_KEY_PASSPHRASE: passphrase } = settings
  try {
    return await createMasterKeyFile(masterKeyFile(settings), { passphrase })
  } catch (error) {
    if (!(error instanceof MasterKeyExists)) throw error
    return openMasterKey(settings, askPassphrase)
  }
}

/**
 * What can be seen of the master key without asking anybody; undefined if there is no file. The key
 * is not there where a passphrase is needed that the settings do not have.
 */
export async function lookAtMasterKey(
  settings: Settings,
): Promise<{ protection: 'none' | 'passphrase'; masterKey: MasterKey | undefined } | undefined> {
  const file = masterKeyFile(settings)
  const { STRONGROOM_MASTER_KEY_PASSPHRASE: passphrase } = settings
  try {
    return { protection: 'none', masterKey: await openMasterKeyFile(file) }
  } catch (error) {
    if (error instanceof MasterKeyMissing) return undefined
    if (!(error instanceof PassphraseNeeded)) throw error
  }
  const masterKey =
    passphrase === undefined ? undefined : await openMasterKeyFile(file, { passphrase })
  return { protection: 'passphrase', masterKey }
}
