/** Passphrases: asked for on a terminal without showing them, or read from a file descriptor. */
import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { AskPassphrase } from '@strongroom/server/master-key'
import { UsageError } from './command.ts'
import { readDescriptor } from './read-given.ts'

const MAX_BYTES = 4096

export interface Questioner {
  input: NodeJS.ReadableStream & { isTTY?: boolean }
  /** Where the question stands; what is typed is shown nowhere. */
  show(text: string): void
}

const terminal: Questioner = {
  input: process.stdin,
  show: (text) => void process.stderr.write(text),
}

/** How to ask for the passphrase of the master key; undefined where there is nobody to ask. */
export function passphraseAsker({ json }: { json: boolean }): AskPassphrase | undefined {
  if (json || !process.stdin.isTTY) return undefined
  return () => askHidden('Passphrase of the master key: ')
}

export async function askHidden(question: string, { input, show } = terminal): Promise<string> {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: silence, terminal: true })
  // Ctrl+C and the end of the input close it.
  const closed = once(lines, 'close').then(() => undefined)
  const typed = lines.question('').catch(() => undefined)
  show(question)
  const passphrase = await Promise.race([typed, closed])
  lines.close()
  show('\n')
  if (passphrase === undefined) throw new UsageError('Nothing was typed: run the command again')
  return passphrase.trim()
}

/** A new passphrase from the file descriptor, or asked for twice. */
export async function newPassphrase(
  descriptor: string | boolean | undefined,
  questioner = terminal,
): Promise<string> {
  if (typeof descriptor === 'string') {
    return usable(await readDescriptor('fd', descriptor, MAX_BYTES))
  }
  if (!questioner.input.isTTY) {
    throw new UsageError('There is no terminal to ask on: give the new passphrase with --fd')
  }
  const first = usable(await askHidden('New passphrase: ', questioner))
  if (usable(await askHidden('The same again: ', questioner)) === first) return first
  throw new UsageError('The two passphrases are not the same: nothing was changed')
}

/** Without spaces around it, because settings are read that way too. */
function usable(given: string | undefined): string {
  if (given === undefined) throw new UsageError(`A passphrase has at most ${MAX_BYTES} bytes`)
  const passphrase = given.trim()
  if (passphrase === '') throw new UsageError('A passphrase cannot be empty')
  if (passphrase.includes('\n')) throw new UsageError('A passphrase must be one line')
  return passphrase
}
