/**
 * The master key file. Losing it means losing everything that it wraps, so opening never creates a file,
 * creating never replaces one, and during a change of the passphrase there is always a usable file.
 */
import { randomFillSync, timingSafeEqual } from 'node:crypto'
import { access, link, readdir, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { syncDirectory } from '@strongroom/platform/durable-directory'
import { MasterKeyError } from './errors.ts'
import { passphraseLine, plainLine, readLine } from './format.ts'
import { MASTER_KEY_BYTES, type MasterKey } from './key.ts'
import { DEFAULT_COST, isAffordable, type ScryptCost } from './passphrase.ts'
import { createPrivate, readPrivate, replacePrivate } from './private-file.ts'

interface Protection {
  /** Without a passphrase only the file permissions protect the key. */
  passphrase?: string | undefined
  cost?: ScryptCost
}

export function newMasterKey(): MasterKey {
  return randomFillSync(new Uint8Array(MASTER_KEY_BYTES))
}

/** Creates the master key file and its directory; generates the key unless one is passed. */
export async function createMasterKeyFile(
  path: string,
  { masterKey = newMasterKey(), ...protection }: Protection & { masterKey?: MasterKey } = {},
): Promise<MasterKey> {
  const line = await protectedLine(masterKey, protection)
  await createPrivate(path, line).catch((error: unknown) => {
    if (codeOf(error) === 'EEXIST') {
      throw new MasterKeyError(
        'MasterKeyExists',
        `A master key already exists in "${path}": it was not changed`,
      )
    }
    throw unusable(path, error)
  })
  return masterKey
}

export async function openMasterKeyFile(
  path: string,
  { passphrase }: Pick<Protection, 'passphrase'> = {},
): Promise<MasterKey> {
  const text = await readPrivate(path).catch((error: unknown) => {
    throw unusable(path, error)
  })
  return readLine(text, `"${path}"`, passphrase)
}

interface PassphraseChange {
  /** The current passphrase, if there is one. */
  from?: string | undefined
  /** The new passphrase; without it the file is no longer protected by one. */
  to?: string | undefined
  cost?: ScryptCost
}

export async function changePassphrase(path: string, change: PassphraseChange): Promise<void> {
  const { from, to, cost = DEFAULT_COST } = change
  const read = () =>
    readPrivate(path).catch((error: unknown) => {
      throw unusable(path, error)
    })
  const before = await read()
  const masterKey = await readLine(before, `"${path}"`, from)
  const line = await protectedLine(masterKey, { passphrase: to, cost })
  // Verify that the new file opens before the old one is replaced.
  const reopened = await readLine(line, `"${path}"`, to)
  if (!timingSafeEqual(reopened, masterKey)) {
    throw new MasterKeyError(
      'MasterKeyError',
      `"${path}" was not changed: the new form does not open`,
    )
  }
  // Deriving keys from passphrases is slow, and another process may have replaced the file.
  if ((await read()) !== before) {
    throw new MasterKeyError(
      'MasterKeyError',
      `"${path}" was changed by another process: try again`,
    )
  }
  await replacePrivate(path, line).catch((error: unknown) => {
    throw unusable(path, error)
  })
}

async function protectedLine(
  masterKey: MasterKey,
  { passphrase, cost = DEFAULT_COST }: Protection,
): Promise<string> {
  if (passphrase === undefined) return plainLine(masterKey)
  if (passphrase === '') {
    throw new MasterKeyError(
      'PassphraseNeeded',
      'A passphrase cannot be empty: pass one, or none at all',
    )
  }
  if (!isAffordable(cost)) throw new RangeError('The cost of the passphrase is out of bounds')
  return passphraseLine(masterKey, passphrase, cost)
}

function unusable(path: string, error: unknown): unknown {
  const code = codeOf(error)
  if (error instanceof MasterKeyError || code === undefined) return error
  if (code === 'ENOENT') {
    return new MasterKeyError(
      'MasterKeyMissing',
      `There is no master key in "${path}": restore it from a backup, or configure its path`,
    )
  }
  return new MasterKeyError(
    'MasterKeyError',
    `Cannot use the master key in "${path}": ${messageOf(error)}`,
    {
      cause: error,
    },
  )
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

// The other files during a change of the master key: first the next file, and after the exchange the old
// one, which earlier backups still need.

export async function nextFile(path: string, check: Uint8Array): Promise<string> {
  return `${await actual(path)}.next-${nameOf(check)}`
}

export async function oldFile(path: string, check: Uint8Array): Promise<string> {
  return `${await actual(path)}.old-${nameOf(check)}`
}

/** Also removes the temporary files of killed processes. */
export async function removeNextFile(path: string, check: Uint8Array): Promise<void> {
  const file = await nextFile(path, check)
  const name = basename(file)
  const names = await readdir(dirname(file))
  const found = names.filter((each) => each === name || each.startsWith(`.${name}.`))
  await Promise.all(found.map((each) => rm(join(dirname(file), each), { force: true })))
}

/**
 * Replaces the current file with the next one, and keeps the old one. Needs no passphrase, and can be
 * repeated, even by two processes concurrently.
 */
export async function exchangeFiles(
  path: string,
  { current, next }: { current: Uint8Array; next: Uint8Array },
): Promise<void> {
  const incoming = await nextFile(path, next)
  // Without a next file the exchange is done, and the current file must not be kept as the old one.
  if (!(await exists(incoming))) return
  const target = await actual(path)
  await link(target, await oldFile(path, current)).catch(unless('EEXIST', 'ENOENT'))
  await rename(incoming, target).catch(unless('ENOENT'))
  syncDirectory(dirname(target))
}

/** Resolves links, because renaming works only within a volume. */
async function actual(path: string): Promise<string> {
  return (await realpath(path).catch(unless('ENOENT'))) ?? path
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

function unless(...codes: string[]) {
  return (error: NodeJS.ErrnoException): undefined => {
    if (!codes.includes(error.code ?? '')) throw error
  }
}

function nameOf(check: Uint8Array): string {
  return Buffer.from(check).toString('hex', 0, 8)
}
