/** Reads files, file descriptors, standard input, and secrets that are typed. */
import { createReadStream } from 'node:fs'
import { Failure } from '@strongroom/kit/errors'
import type { AskPassphrase } from '@strongroom/server/kms/master-key'
import { usageError } from './command.ts'
import { askOnTerminal } from './prompt.ts'

export async function readDescriptor(
  option: string,
  descriptor: string,
  maxBytes: number,
): Promise<string | undefined> {
  if (!/^\d{1,4}$/.test(descriptor)) {
    throw usageError(`--${option} must be the number of an open file descriptor, such as 3`)
  }
  const stream = createReadStream('', { fd: Number(descriptor), autoClose: false })
  return readText(stream, { maxBytes, what: `The input of --${option}` }).catch(
    unreadable(`descriptor of --${option}`, `open it, as with ${descriptor}<file`),
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

/** The bytes of a file; undefined if there are more than `maxBytes`. */
export async function readBinaryFile(
  name: string,
  path: string,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return readBytes(createReadStream(path), maxBytes).catch(
    unreadable(`file of ${name}`, 'check its path'),
  )
}

function unreadable(what: string, hint: string) {
  return (error: unknown): never => {
    if (error instanceof Failure) throw error
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw usageError(`Cannot read the ${what} (${reason}): ${hint}`)
  }
}

/** The exact text of a stream; undefined if it is longer than `maxBytes`. */
export async function readText(
  stream: AsyncIterable<Uint8Array | string>,
  { maxBytes, what }: { maxBytes: number; what: string },
): Promise<string | undefined> {
  const bytes = await readBytes(stream, maxBytes)
  if (!bytes) return undefined
  try {
    // A byte order mark is part of the text.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return decoder.decode(bytes)
  } catch {
    throw usageError(
      `${what} is not UTF-8: save it as UTF-8, or encode it, for example with base64`,
    )
  }
}

async function readBytes(
  stream: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > maxBytes) return undefined
    chunks.push(bytes)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

const MAX_SECRET_BYTES = 1_024

/** A signing secret or token, from a hidden prompt or standard input; never an argument, which other users can see. */
export async function readSecret(question: string): Promise<string> {
  const text = process.stdin.isTTY
    ? await askOnTerminal(question)
    : await readText(process.stdin, { maxBytes: MAX_SECRET_BYTES, what: 'Standard input' })
  if (text === undefined) throw usageError(`A secret has at most ${MAX_SECRET_BYTES} bytes`)
  const secret = text.trim()
  if (secret === '') {
    throw usageError('No secret given: type it, or pass it on standard input')
  }
  return secret
}

const MAX_PASSPHRASE_BYTES = 4096

/** Asks for the master key's passphrase; undefined without a terminal. */
export function askMasterKeyPassphrase({ json }: { json: boolean }): AskPassphrase | undefined {
  if (json || !process.stdin.isTTY) return undefined
  return async () => (await askOnTerminal('Passphrase of the master key: '))?.trim() ?? ''
}

/** Asks for a line; undefined without a terminal. */
export type AskLine = (question: string) => Promise<string | undefined>

const askOnStandardInput: AskLine = async (question) =>
  process.stdin.isTTY ? askOnTerminal(question) : undefined

/** A new passphrase, from the file descriptor or asked for twice. */
export async function newPassphrase(
  descriptor: string | boolean | undefined,
  ask = askOnStandardInput,
): Promise<string> {
  if (typeof descriptor === 'string') {
    return requirePassphrase(await readDescriptor('fd', descriptor, MAX_PASSPHRASE_BYTES))
  }
  const typed = await ask('New passphrase: ')
  if (typed === undefined) {
    throw usageError('No terminal to ask on: pass the new passphrase with --fd')
  }
  const passphrase = requirePassphrase(typed)
  if ((await ask('Repeat the passphrase: '))?.trim() === passphrase) return passphrase
  throw usageError('The passphrases do not match: nothing was changed')
}

/** Trimmed, like settings. */
function requirePassphrase(text: string | undefined): string {
  if (text === undefined) throw usageError(`A passphrase has at most ${MAX_PASSPHRASE_BYTES} bytes`)
  const passphrase = text.trim()
  if (passphrase === '') throw usageError('A passphrase cannot be empty')
  if (passphrase.includes('\n')) throw usageError('A passphrase must be one line')
  return passphrase
}
