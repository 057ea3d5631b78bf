/**
 * The file that stores the master key. Losing it means losing everything that it wraps, so
 * opening never makes one, making one never replaces another, and a change of the passphrase leaves
 * a usable key on disk at every moment.
 */
import { randomFillSync, timingSafeEqual } from 'node:crypto'
import { access, link, readdir, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { MasterKeyError } from './errors.ts'
import { passphraseLine, plainLine, readLine } from './format.ts'
import { MASTER_KEY_BYTES, type MasterKey } from './key.ts'
import { DEFAULT_COST, isAffordable, type ScryptCost } from './passphrase.ts'
import { createPrivate, readPrivate, replacePrivate, syncDirectory } from './private-file.ts'

interface Protection {
  /** Without one the file is as secret as its permissions keep it. */
  passphrase?: string | undefined
  cost?: ScryptCost
}

export function newMasterKey(): MasterKey {
  return randomFillSync(new Uint8Array(MASTER_KEY_BYTES))
}

/** Makes a master key, unless it is given, and its file, and its directory if there is none. */
export async function createMasterKeyFile(
  path: string,
  { masterKey = newMasterKey(), ...protection }: Protection & { masterKey?: MasterKey } = {},
): Promise<MasterKey> {
  const line = await protectedLine(masterKey, protection)
  await createPrivate(path, line).catch((error: unknown) => {
    if (codeOf(error) === 'EEXIST') {
      throw new MasterKeyError(
        'MasterKeyExists',
        `There is a master key in "${path}" already: it was left as it is`,
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
  /** The present passphrase, if there is one. */
  from?: string | undefined
  /** The new one; without it the file is not protected by a passphrase any more. */
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
  // The old file is about to go: the new one must open before that.
  const reopened = await readLine(line, `"${path}"`, to)
  if (!timingSafeEqual(reopened, masterKey)) {
    throw new MasterKeyError(
      'MasterKeyError',
      `"${path}" was not changed: the new form does not open`,
    )
  }
  // To stretch passphrases takes a while, in which there may have come to be another master key.
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
      'A passphrase cannot be empty: give one, or none at all',
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
      `There is no master key in "${path}": restore it from a backup, or say where it is`,
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

// The files of a change of the master key, beside its own: the next one until it takes its place,
// and the old one from then on, which backups that were made before still need.

export async function nextFile(path: string, check: Uint8Array): Promise<string> {
  return `${await actual(path)}.next-${nameOf(check)}`
}

export async function oldFile(path: string, check: Uint8Array): Promise<string> {
  return `${await actual(path)}.old-${nameOf(check)}`
}

/** Also removes what a killed process left of writing it. */
export async function removeNextFile(path: string, check: Uint8Array): Promise<void> {
  const file = await nextFile(path, check)
  const name = basename(file)
  const names = await readdir(dirname(file))
  const found = names.filter((each) => each === name || each.startsWith(`.${name}.`))
  await Promise.all(found.map((each) => rm(join(dirname(file), each), { force: true })))
}

/**
 * Puts the next file into the place of the present one, which is kept. Takes no passphrase, and may
 * be done again, also by two at once.
 */
export async function exchangeFiles(
  path: string,
  { current, next }: { current: Uint8Array; next: Uint8Array },
): Promise<void> {
  const incoming = await nextFile(path, next)
  // Without it the present file is the next one already, and must not be kept as the old one.
  if (!(await exists(incoming))) return
  const target = await actual(path)
  await link(target, await oldFile(path, current)).catch(unless('EEXIST', 'ENOENT'))
  await rename(incoming, target).catch(unless('ENOENT'))
  await syncDirectory(dirname(target))
}

/** Where a link leads: what is renamed must be on one volume. */
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
