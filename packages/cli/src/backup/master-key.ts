/** The master key in backups: whether it matches the KMS keys, and how a restore handles it. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Progress } from '@strongroom/engine/backup'
import { backupAttachment, backupItems } from '@strongroom/engine/backup-contents'
import { DataError } from '@strongroom/engine/storage/lmdb/failures'
import { serverTable } from '@strongroom/kit/server-table'
import { keyCheck, type MasterKey } from '@strongroom/kms/master-key/key'
import { isMasterKeyError } from '@strongroom/kms/master-key/errors'
import { readLine } from '@strongroom/kms/master-key/format'
import { readPrivate } from '@strongroom/kms/master-key/private-file'
import { findMasterKeyCheck } from '@strongroom/server/kms/key-storage'
import {
  type AskPassphrase,
  inspectMasterKey,
  masterKeyPath,
  openMasterKey,
} from '@strongroom/server/kms/master-key'
import { type Settings, settings } from '@strongroom/server/settings'
import { storeKind } from '@strongroom/server/store'
import { Failure } from '@strongroom/kit/errors'
import type { CommandInput, CommandOption, Output } from '../command.ts'
import { pluralize } from '../output.ts'

const ATTACHMENT = 'master-key'

type Items = Iterable<object> | AsyncIterable<object>

/**
 * The check values of the master keys that wrap the KMS keys of this deployment. If it has no KMS
 * keys, those of all deployments in the data, so that a forgotten prefix does not leave out a key.
 */
export async function masterKeyChecks(
  { STRONGROOM_TABLE_PREFIX: prefix }: Settings,
  itemsOf: (isIncluded: (table: string) => boolean) => Items,
): Promise<Uint8Array[]> {
  const own = await checksIn(itemsOf((table) => table === prefix + serverTable.name))
  return own.length > 0 ? own : checksIn(itemsOf((table) => table.endsWith(serverTable.name)))
}

async function checksIn(items: Items): Promise<Uint8Array[]> {
  const checks: Uint8Array[] = []
  for await (const item of items) {
    const check = findMasterKeyCheck(item)
    if (check) checks.push(check)
  }
  return checks
}

/** The master key file, unchanged: if it has a passphrase, so does the copy. */
export async function masterKeyAttachment(configured: Settings, checks: readonly Uint8Array[]) {
  const file = masterKeyPath(configured)
  const found = await inspectMasterKey(configured)
  if (!found) {
    throw new DataError(`Cannot include the master key in the backup: "${file}" not found`)
  }
  if (found.masterKey && !fits(found.masterKey, checks)) {
    throw new DataError(
      `Cannot include the master key in the backup: the KMS keys were created with another master key than the one in "${file}"`,
    )
  }
  return { name: ATTACHMENT, content: Buffer.from(await readPrivate(file)) }
}

/** What a restore does with the master key: write it, ask the user to put it there, or nothing. */
export type MasterKeyPlan =
  | { action: 'write'; line: string }
  | { action: 'put there' }
  | { action: 'none' }

/** Throws if there is a master key that does not match the KMS keys in the backup. */
export async function masterKeyPlan(
  file: string,
  configured: Settings,
  askPassphrase?: AskPassphrase,
): Promise<MasterKeyPlan> {
  const checks = await masterKeyChecks(configured, (isIncluded) => backupItems(file, isIncluded))
  const attached = await backupAttachment(file, ATTACHMENT)
  const line = attached && Buffer.from(attached.content).toString()
  const keyFile = masterKeyPath(configured)
  const refuse = (why: string) => new DataError(`Cannot restore the backup "${file}": ${why}`)

  if (existsSync(keyFile)) {
    if (checks.length > 0 && !fits(await openMasterKey(configured, askPassphrase), checks)) {
      throw refuse(
        `its KMS keys were created with another master key than the one in "${keyFile}": put the right one there, or set STRONGROOM_MASTER_KEY_FILE`,
      )
    }
    if (checks.length === 0 && line !== undefined && line !== (await readPrivate(keyFile))) {
      throw refuse(
        `it contains a master key, but "${keyFile}" contains another one: move that file, or set STRONGROOM_MASTER_KEY_FILE`,
      )
    }
    return { action: 'none' }
  }
  if (line === undefined) return { action: checks.length > 0 ? 'put there' : 'none' }
  const masterKey = await withoutPassphrase(line, keyFile)
  if (masterKey && !fits(masterKey, checks)) {
    throw refuse('its KMS keys were created with another master key than the one it contains')
  }
  return { action: 'write', line }
}

/** Undefined if it is protected by a passphrase. */
async function withoutPassphrase(line: string, file: string): Promise<MasterKey | undefined> {
  return readLine(line, `"${file}"`, undefined).catch((error: unknown) => {
    if (isMasterKeyError(error, 'PassphraseNeeded')) return undefined
    throw error
  })
}

/** Whether a master key is the one that wraps the KMS keys with these check values. */
export function fits(masterKey: MasterKey, checks: readonly Uint8Array[]): boolean {
  const own = keyCheck(masterKey)
  return checks.every((check) => Buffer.compare(check, own) === 0)
}

export const dataOption: Readonly<Record<'data', CommandOption>> = {
  data: { value: 'DIR', summary: 'Data directory (STRONGROOM_DATA, ./data)' },
}

export function configuredData({ options, env }: CommandInput): {
  configured: Settings
  directory: string
} {
  const { data } = options
  const configured = settings.parse(
    typeof data === 'string' ? { ...env, STRONGROOM_DATA: data } : env,
  )
  if (storeKind(configured) !== 'embedded') {
    throw new Failure(
      'failed',
      'This command backs up only the embedded store: on DynamoDB use point-in-time recovery or AWS Backup',
    )
  }
  return { configured, directory: resolve(configured.STRONGROOM_DATA) }
}

const PROGRESS_ITEMS = 50_000

/** Prints a line per table, and for large tables one after every 50,000 items. */
export function progressTo(output: Output): (progress: Progress) => void {
  let printed = { table: '', items: 0 }
  return ({ table, items, isWhole }) => {
    if (isWhole) output.progress(`${table}: ${pluralize(items, 'item')}`)
    else if (items - (printed.table === table ? printed.items : 0) >= PROGRESS_ITEMS) {
      printed = { table, items }
      output.progress(`${table}: ${items} items so far`)
    }
  }
}

export function summary(tables: readonly { items: number }[]): string {
  const items = tables.reduce((sum, table) => sum + table.items, 0)
  return `${pluralize(tables.length, 'table')} with ${pluralize(items, 'item')}`
}
