/** The master key and backups: whether the two belong together, and the key inside one. */
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

const ATTACHMENT = 'master-key'

type Items = Iterable<object> | AsyncIterable<object>

/**
 * Tells the master keys that the KMS keys of this deployment were made with. If it has none, those
 * of all deployments in the data, so that a forgotten prefix does not leave out the master key.
 */
export async function masterKeyChecks(
  { STRONGROOM_TABLE_PREFIX: prefix }: Settings,
  itemsOf: (isMeant: (table: string) => boolean) => Items,
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

/** The master key file for a backup, as it is: one with a passphrase keeps it. */
export async function attachmentOf(configured: Settings, checks: readonly Uint8Array[]) {
  const file = masterKeyPath(configured)
  const found = await inspectMasterKey(configured)
  if (!found) {
    throw new DataError(`Cannot put the master key into the backup: there is none in "${file}"`)
  }
  if (found.masterKey && !fits(found.masterKey, checks)) {
    throw new DataError(
      `Cannot put the master key into the backup: the KMS keys were made with another one than is in "${file}"`,
    )
  }
  return { name: ATTACHMENT, content: Buffer.from(await readPrivate(file)) }
}

/** What restoring means for the master key: to write it, to ask for it, or neither. */
export type MasterKeyPlan =
  | { action: 'write'; line: string }
  | { action: 'put there' }
  | { action: 'none' }

/** Refuses where a master key is that the keys in the backup were not made with. */
export async function masterKeyPlan(
  file: string,
  configured: Settings,
  askPassphrase?: AskPassphrase,
): Promise<MasterKeyPlan> {
  const checks = await masterKeyChecks(configured, (isMeant) => backupItems(file, isMeant))
  const attached = await backupAttachment(file, ATTACHMENT)
  const line = attached && Buffer.from(attached.content).toString()
  const keyFile = masterKeyPath(configured)
  const refuse = (why: string) => new DataError(`Cannot restore the backup "${file}": ${why}`)

  if (existsSync(keyFile)) {
    if (checks.length > 0 && !fits(await openMasterKey(configured, askPassphrase), checks)) {
      throw refuse(
        `its KMS keys were made with another master key than is in "${keyFile}": put the right one there, or set STRONGROOM_MASTER_KEY_FILE`,
      )
    }
    if (checks.length === 0 && line !== undefined && line !== (await readPrivate(keyFile))) {
      throw refuse(
        `it holds a master key, and there is another one in "${keyFile}": move that away, or set STRONGROOM_MASTER_KEY_FILE`,
      )
    }
    return { action: 'none' }
  }
  if (line === undefined) return { action: checks.length > 0 ? 'put there' : 'none' }
  const masterKey = await withoutPassphrase(line, keyFile)
  if (masterKey && !fits(masterKey, checks)) {
    throw refuse('its KMS keys were made with another master key than it holds')
  }
  return { action: 'write', line }
}

/** Undefined if it takes a passphrase. */
async function withoutPassphrase(line: string, file: string): Promise<MasterKey | undefined> {
  return readLine(line, `"${file}"`, undefined).catch((error: unknown) => {
    if (isMasterKeyError(error, 'PassphraseNeeded')) return undefined
    throw error
  })
}

function fits(masterKey: MasterKey, checks: readonly Uint8Array[]): boolean {
  const own = keyCheck(masterKey)
  return checks.every((check) => Buffer.compare(check, own) === 0)
}

// What `strongroom backup` and `restore` have in common.

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
      'Only the embedded store is backed up this way: on DynamoDB use point-in-time recovery or AWS Backup',
    )
  }
  return { configured, directory: resolve(configured.STRONGROOM_DATA) }
}

const LARGE = 50_000

/** A line for each table, and for large ones now and then. */
export function progressTo(output: Output): (progress: Progress) => void {
  let told = { table: '', items: 0 }
  return ({ table, items, isWhole }) => {
    if (isWhole) output.progress(`${table}: ${counted(items, 'item')}`)
    else if (items - (told.table === table ? told.items : 0) >= LARGE) {
      told = { table, items }
      output.progress(`${table}: ${items} items so far`)
    }
  }
}

export function summary(tables: readonly { items: number }[]): string {
  const items = tables.reduce((sum, table) => sum + table.items, 0)
  return `${counted(tables.length, 'table')} with ${counted(items, 'item')}`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
