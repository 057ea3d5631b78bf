/**
 * Hands the token of the first operator to whoever started the server: on a terminal to the person
 * who looks at it, otherwise into a file that only its owner can read. Never into a log.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** Where the token is: in a file, or nowhere. */
export type KeptToken = { file: string } | { lost: string }

/** Writes a token to a new file; the token of another store may be in the directory already. */
export async function keepToken(token: string, directory: string): Promise<KeptToken> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    for (let number = 1; ; number++) {
      const name = number === 1 ? 'operator-admin.token' : `operator-admin-${number}.token`
      const file = resolve(join(directory, name))
      if (await written(file, `${token}\n`)) return { file }
    }
  } catch (error) {
    return { lost: codeOf(error) }
  }
}

async function written(file: string, text: string): Promise<boolean> {
  try {
    await writeFile(file, text, { mode: 0o600, flag: 'wx' })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
