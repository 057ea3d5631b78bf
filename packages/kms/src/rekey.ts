/**
 * Replaces the master key of a store. If a process is killed between any two steps, either the old or the
 * new master key is in use and opens every key:
 *
 *     begin | next file | stage each key | decide | exchange files | promote each key | end
 *
 * Before `decide`, the next start continues with the old master key, and the next change starts over.
 * After `decide`, the next start finishes the change, for which it needs only the new passphrase.
 */
import { timingSafeEqual } from 'node:crypto'
import { conflict, invalidState } from './errors.ts'
import type { KeyRecord, KeyStorage, RekeyStorage, RewrappedKey } from './key-storage.ts'
import { requireMasterKey, type MasterKey, type Wrapping, wrappingBy } from './master-key/key.ts'
import { MasterKeyError } from './master-key/errors.ts'
import {
  exchangeFiles,
  nextFile,
  oldFile,
  removeNextFile,
  createMasterKeyFile,
  newMasterKey,
  openMasterKeyFile,
} from './master-key/file.ts'
import type { ScryptCost } from './master-key/passphrase.ts'

type Storage = KeyStorage & RekeyStorage

export interface RekeyOptions {
  storage: Storage
  /** The master key file. */
  file: string
  /** The current master key. */
  masterKey: MasterKey
  /** The passphrase of the new file; without it the file is not protected by one. */
  passphrase?: string | undefined
  cost?: ScryptCost
  /** Called once, and possibly again after a crash. */
  changed(): void
}

/** Returns the number of keys, and where the old master key is now. */
export async function rekey(options: RekeyOptions): Promise<{ keys: number; old: string }> {
  const { storage, file, masterKey, changed } = options
  const present = wrappingBy(masterKey)
  // Verify that all keys open before anything is written.
  await requireMasterKey(storage, present.check)
  const next = newMasterKey()
  const coming = wrappingBy(next)
  for (const record of await storage.list()) await rewrapKeys(storage, record, present, coming)

  await begin(storage, file, present.check, coming.check)
  let keys
  try {
    await writeNextFile(options, next, await nextFile(file, coming.check))
    const records = await storage.list()
    for (const record of records) await stage(storage, record, present, coming)
    keys = records.length
    if (!(await storage.decide(coming.check))) throw rekeyConflict()
  } catch (error) {
    await giveUp(storage, file, coming.check).catch(() => {})
    throw error
  }
  const old = await oldFile(file, present.check)
  await finishFiles(storage, file)
  await finishKeys(storage, coming, changed)
  return { keys, old }
}

/** Installs the file of a decided change; call it before the master key is opened. */
export async function finishFiles(storage: RekeyStorage, file: string): Promise<void> {
  const change = await storage.change()
  if (change?.decided === true) await exchangeFiles(file, change)
}

/** Finishes a decided change with the new master key. */
export async function finishKeys(
  storage: Storage,
  { check }: Pick<Wrapping, 'check'>,
  changed: () => void,
): Promise<void> {
  const change = await storage.change()
  if (change?.decided !== true || !isSame(change.next, check)) return
  for (const record of await storage.list()) await promote(storage, record, check)
  changed()
  await storage.end(check)
}

async function begin(
  storage: Storage,
  file: string,
  current: Uint8Array,
  next: Uint8Array,
): Promise<void> {
  const cutShort = (await storage.change())?.next
  if (!(await storage.begin(current, next, cutShort))) throw rekeyConflict()
  // The file of an abandoned change was never used and never will be.
  if (cutShort) await removeNextFile(file, cutShort)
}

/** Succeeds if the change was decided and only the response was lost. */
async function giveUp(storage: Storage, file: string, next: Uint8Array): Promise<void> {
  await storage.abandon(next)
  const change = await storage.change()
  if (!change || !isSame(change.next, next)) await removeNextFile(file, next)
}

async function writeNextFile(
  { passphrase, cost }: RekeyOptions,
  masterKey: MasterKey,
  path: string,
): Promise<void> {
  await createMasterKeyFile(path, { passphrase, masterKey, ...(cost && { cost }) })
  // Verify that the new file opens before the old one is replaced.
  const reopened = await openMasterKeyFile(path, { passphrase })
  if (!timingSafeEqual(reopened, masterKey))
    throw new MasterKeyError('MasterKeyError', `"${path}" does not open: nothing was changed`)
}

async function stage(
  storage: Storage,
  record: KeyRecord,
  present: Wrapping,
  coming: Wrapping,
): Promise<void> {
  const backingKeys = await rewrapKeys(storage, record, present, coming)
  if (backingKeys.length === 0) return
  if (await storage.stage(record.id, backingKeys, coming.check)) return
  if (await storage.load(record.id)) throw rekeyConflict()
}

async function promote(storage: Storage, { id }: KeyRecord, check: Uint8Array): Promise<void> {
  let tried = 0
  for (;;) {
    const record = await storage.load(id)
    // The key was deleted, or another process has promoted it.
    if (!record || isSame(record.masterKeyCheck, check)) return
    const { arn, currentVersion, revision } = record
    if (revision === tried) throw invalidState(`${arn} is damaged: restore the store from a backup`)
    if (await storage.promote(id, currentVersion, check, revision)) return
    // The record changed concurrently, for example because the key was disabled.
    tried = revision
  }
}

/** The backing keys of a key, wrapped by the next master key; none if the key was removed. */
async function rewrapKeys(
  storage: Storage,
  { id, arn, currentVersion }: KeyRecord,
  present: Wrapping,
  coming: Wrapping,
): Promise<RewrappedKey[]> {
  const backingKeys: RewrappedKey[] = []
  for (let version = 1; version <= currentVersion; version++) {
    const stored = await storage.loadVersion(id, version)
    if (!stored && !(await storage.load(id))) return []
    const key = stored && present.unwrap(id, version, stored.wrapped)
    if (!key) {
      throw invalidState(
        `Version ${version} of ${arn} is ${stored ? 'damaged' : 'missing'}: restore it from a backup first`,
      )
    }
    const material = key.export()
    const to = coming.wrap(id, version, material)
    material.fill(0)
    if (coming.unwrap(id, version, to)?.equals(key) !== true)
      throw invalidState(`Version ${version} of ${arn} cannot be wrapped anew: nothing was changed`)
    backingKeys.push({ version, from: stored.wrapped, to })
  }
  return backingKeys
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

function rekeyConflict() {
  return conflict(
    'The master key is being changed by another process: see "strongroom kms status" whether that is done, then try again',
  )
}
