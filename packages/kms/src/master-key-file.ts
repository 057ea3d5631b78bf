/**
 * The file that the master key is kept in. Losing it means losing everything that it wraps, so
 * opening never makes one, making one never replaces another, and a change of the passphrase leaves
 * a usable key on disk at every moment.
 */
import { randomFillSync, timingSafeEqual } from 'node:crypto'
import {
  MasterKeyError,
  MasterKeyExists,
  MasterKeyMissing,
  PassphraseNeeded,
} from './master-key-errors.ts'
import { passphraseLine, plainLine, readLine } from './master-key-format.ts'
import { MASTER_KEY_BYTES, type MasterKey } from './master-key.ts'
import { DEFAULT_COST, isAffordable, type ScryptCost } from './passphrase.ts'
import { createPrivate, readPrivate, replacePrivate } from './private-file.ts'

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
      throw new MasterKeyExists(`There is a master key in "${path}" already: it was left as it is`)
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
    throw new MasterKeyError(`"${path}" was not changed: the new form does not open`)
  }
  // To stretch passphrases takes a while, in which there may have come to be another master key.
  if ((await read()) !== before) {
    throw new MasterKeyError(`"${path}" was changed by another process meanwhile: try again`)
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
    throw new PassphraseNeeded('A passphrase cannot be empty: give one, or none at all')
  }
  if (!isAffordable(cost)) throw new RangeError('The cost of the passphrase is out of bounds')
  return passphraseLine(masterKey, passphrase, cost)
}

function unusable(path: string, error: unknown): unknown {
  const code = codeOf(error)
  if (error instanceof MasterKeyError || code === undefined) return error
  if (code === 'ENOENT') {
    return new MasterKeyMissing(
      `There is no master key in "${path}": restore it from a backup, or say where it is`,
    )
  }
  return new MasterKeyError(`Cannot use the master key in "${path}": ${messageOf(error)}`, {
    cause: error,
  })
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
