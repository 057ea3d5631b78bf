/**
 * Hands the token of the first operator to whoever started the server: on a terminal to the person
 * who looks at it, otherwise into a file that only its owner can read. Never into a log.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** Returns what to tell the person, or undefined if no token was made. */
export async function keepToken(
  token: string | undefined,
  directory: string,
): Promise<string | undefined> {
  if (token === undefined) return undefined
  if (process.stdout.isTTY) return `${token} (shown this once)`
  const file = resolve(join(directory, 'operator-admin.token'))
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await writeFile(file, `${token}\n`, { mode: 0o600, flag: 'wx' })
  return `token in ${file}`
}
