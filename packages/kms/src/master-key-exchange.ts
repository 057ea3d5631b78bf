/**
 * The files of a change of the master key, beside its own: the next one until it takes its place,
 * and the old one from then on, which backups that were made before still need.
 */
import { access, link, readdir, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { syncDirectory } from './private-file.ts'

export async function nextFile(path: string, check: Uint8Array): Promise<string> {
  return `${await actual(path)}.next-${nameOf(check)}`
}

export async function oldFile(path: string, check: Uint8Array): Promise<string> {
  return `${await actual(path)}.old-${nameOf(check)}`
}

/** Also what a kill has left of writing it. */
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
