/** What commands read: files, file descriptors, standard input, and prompts that hide what is typed. */
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { AskPassphrase } from '@strongroom/server/kms/master-key'
import { UsageError } from './command.ts'

export async function readDescriptor(
  option: string,
  given: string,
  maxBytes: number,
): Promise<string | undefined> {
  if (!/^\d{1,4}$/.test(given)) {
    throw new UsageError(`--${option} must be the number of an open file descriptor, such as 3`)
  }
  const stream = createReadStream('', { fd: Number(given), autoClose: false })
  return readText(stream, { maxBytes, what: `The input of --${option}` }).catch(
    unreadable(`descriptor of --${option}`, `open it, as with ${given}<file`),
  )
}

export async function readTextFile(
  name: string,
  path: string,
  maxBytes: number,
): Promise<string | undefined> {
  const what = `The file of ${name}`
  return readText(createReadStream(path), { maxBytes, what }).catch(
    unreadable(`file of ${name}`, 'check its path'),
  )
}

function unreadable(what: string, hint: string) {
  return (error: unknown): never => {
    if (error instanceof UsageError) throw error
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw new UsageError(`Cannot read the ${what} (${reason}): ${hint}`)
  }
}

/** The exact text of a stream; undefined if it is longer than `maxBytes`. */
export async function readText(
  stream: AsyncIterable<Uint8Array | string>,
  { maxBytes, what }: { maxBytes: number; what: string },
): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > maxBytes) return undefined
    chunks.push(bytes)
  }
  try {
    // A byte order mark is part of the text.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return decoder.decode(Buffer.concat(chunks))
  } catch {
    throw new UsageError(
      `${what} is not UTF-8: save it as UTF-8, or encode it, for example with base64`,
    )
  }
}

const MAX_SECRET_BYTES = 1_024

/** A signing secret or token, from a hidden prompt or standard input; never an argument, which other users can see. */
export async function readSecret(question: string): Promise<string> {
  const text = process.stdin.isTTY
    ? await askHidden(question)
    : await readText(process.stdin, { maxBytes: MAX_SECRET_BYTES, what: 'Standard input' })
  if (text === undefined) throw new UsageError(`A secret has at most ${MAX_SECRET_BYTES} bytes`)
  const secret = text.trim()
  if (secret === '') {
    throw new UsageError('No secret given: type it, or pass it on standard input')
  }
  return secret
}

const MAX_PASSPHRASE_BYTES = 4096

export interface Questioner {
  input: NodeJS.ReadableStream & { isTTY?: boolean }
  /** Shows the question; what is typed is not shown. */
  show(text: string): void
}

const terminal: Questioner = {
  input: process.stdin,
  show: (text) => void process.stderr.write(text),
}

/** Asks for the master key's passphrase; undefined without a terminal. */
export function askMasterKeyPassphrase({ json }: { json: boolean }): AskPassphrase | undefined {
  if (json || !process.stdin.isTTY) return undefined
  return () => askHidden('Passphrase of the master key: ')
}

export async function askHidden(question: string, { input, show } = terminal): Promise<string> {
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: discard, terminal: true })
  // Ctrl+C and the end of the input close it.
  const closed = once(lines, 'close').then(() => undefined)
  const typed = lines.question('').catch(() => undefined)
  show(question)
  const passphrase = await Promise.race([typed, closed])
  lines.close()
  show('\n')
  if (passphrase === undefined) throw new UsageError('No input: run the command again')
  return passphrase.trim()
}

/** A new passphrase, from the file descriptor or asked for twice. */
export async function newPassphrase(
  descriptor: string | boolean | undefined,
  questioner = terminal,
): Promise<string> {
  if (typeof descriptor === 'string') {
    return requirePassphrase(await readDescriptor('fd', descriptor, MAX_PASSPHRASE_BYTES))
  }
  if (!questioner.input.isTTY) {
    throw new UsageError('No terminal to ask on: pass the new passphrase with --fd')
  }
  const first = requirePassphrase(await askHidden('New passphrase: ', questioner))
  if (requirePassphrase(await askHidden('Repeat the passphrase: ', questioner)) === first)
    return first
  throw new UsageError('The passphrases do not match: nothing was changed')
}

/** Trimmed, as settings are. */
function requirePassphrase(given: string | undefined): string {
  if (given === undefined)
    throw new UsageError(`A passphrase has at most ${MAX_PASSPHRASE_BYTES} bytes`)
  const passphrase = given.trim()
  if (passphrase === '') throw new UsageError('A passphrase cannot be empty')
  if (passphrase.includes('\n')) throw new UsageError('A passphrase must be one line')
  return passphrase
}
