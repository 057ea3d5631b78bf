/** `strongroom open`: opens a link and prints or saves the secret. */
import type { SealedApi } from '@strongroom/sealed/client/api'
import { RequestFailed } from '@strongroom/sealed/client/errors'
import { openSecret, type OpenedSecret } from '@strongroom/sealed/client/open-secret'
import { type Content, isFile } from '@strongroom/sealed/crypto/content'
import { SealedError } from '@strongroom/sealed/crypto/errors'
import type { Link } from '@strongroom/sealed/crypto/link'
import { deriveReaderKeys, needsPassphrase } from '@strongroom/sealed/crypto/reader'
import { newClaim } from '@strongroom/sealed/crypto/seal'
import type { Command, CommandInput } from '../command.ts'
import { connect, connectionOptions, exitCodes, retryWithProgress } from '../sealed/connection.ts'
import { secretLink } from '../sealed/input.ts'
import {
  askPassphrase,
  readConfiguredPassphrase,
  passphraseHelp,
  passphraseOptions,
  refuseSharedInput,
} from '../sealed/passphrase.ts'
import { escapeControls, escapeForTerminal } from '../output.ts'
import { writeOut } from '../sealed/output.ts'
import {
  releaseTarget,
  requireCurrentDirectory,
  reserveTarget,
  saveContent,
  type SaveTarget,
} from '../sealed/save.ts'

type ReaderLink = Link & { kind: 'secret' | 'own' }

const openCommand: Command = {
  name: 'open',
  kind: 'client',
  args: '[LINK]',
  summary: 'Open a link and print or save the secret',
  secretArgs: true,
  options: {
    output: { value: 'PATH', summary: 'Save it as a new file or in a directory; "-" prints it' },
    ...passphraseOptions,
    ...connectionOptions,
  },
  about: `Without a link, or with "-", reads it from standard input, which keeps it out of the shell history.
Asks for the passphrase if the secret has one.

Prints a text. A file is saved in the current directory under its own name, or printed if standard
output is not a terminal. A file that exists is never overwritten, names that begin with a dot get "_"
instead, and only you can read what is saved.

The link may also be your own of "strongroom request". Anyone with its request link could have written
what it opens.

This uses up one view. If the response is lost, the request is repeated for half a minute without
using another.

${passphraseHelp}

${exitCodes}`,
  async run(input) {
    const [argument = '-'] = input.args
    if (argument === '-') refuseSharedInput(input.options, 'the link')
    const link = await secretLink(argument)
    const api = connect(link.base, input)
    const target = await findTarget(link, input)
    // Created before the first request, so that a repeated request is recognised as the same reader's.
    const claim = newClaim()
    const opened = await openWithPassphrase(api, link, claim, input).catch(async (error) => {
      await releaseTarget(target)
      throw error
    })
    await deliver(opened, target, input)
    await acknowledge(api, link.id, claim)
  },
}

/** Where to save it, or where to save it if it is a file; undefined to print it. */
async function findTarget(
  link: ReaderLink,
  { json, options }: CommandInput,
): Promise<SaveTarget | undefined> {
  const { output } = options
  if (output === '-') return undefined
  if (typeof output === 'string') return reserveTarget(output)
  // What somebody put into a request may be a file or a text.
  const mayBeFile = link.kind === 'own' || link.fragment.isFile
  return mayBeFile && process.stdout.isTTY && !json ? requireCurrentDirectory() : undefined
}

/** Prints the secret or saves it. */
async function deliver(
  { content, remainingViews }: OpenedSecret,
  target: SaveTarget | undefined,
  { json, options }: CommandInput,
): Promise<void> {
  const isSaved = options['output'] !== undefined || isFile(content)
  const path = target && isSaved ? await saveContent(target, content) : undefined
  if (json) {
    const shown = path === undefined ? toView(content) : { path, ...describe(content) }
    return writeOut(`${JSON.stringify({ ...shown, remainingViews }, null, 2)}\n`, path)
  }
  // The name is the sender's choice.
  if (path !== undefined) return writeOut(`Saved to ${escapeControls(path)}\n`, path)
  if (isFile(content)) return writeOut(content.bytes)
  return process.stdout.isTTY ? showOnTerminal(content) : writeOut(content)
}

/** The content for programs: a text, or a file in base64. */
function toView(content: Content) {
  if (!isFile(content)) return { text: content }
  return { ...describe(content), base64: Buffer.from(content.bytes).toString('base64') }
}

function describe(content: Content) {
  return isFile(content) ? { name: content.name, mediaType: content.mediaType } : {}
}

async function showOnTerminal(text: string): Promise<void> {
  const { shown, isExact } = escapeForTerminal(text)
  await writeOut(shown)
  // The shell's prompt must start on a new line.
  if (!shown.endsWith('\n')) process.stderr.write('\n')
  if (isExact) return
  process.stderr.write(
    'Control characters are shown as symbols. For the exact text: strongroom open LINK > FILE\n',
  )
}

async function openWithPassphrase(
  api: SealedApi,
  link: ReaderLink,
  claim: string,
  input: CommandInput,
): Promise<OpenedSecret> {
  const { id } = link
  const retry = retryWithProgress(input.output)
  const isProtected = needsPassphrase(link)
  const given = isProtected ? await readConfiguredPassphrase(input) : undefined
  if (given !== undefined || !isProtected) {
    const keys = await deriveReaderKeys(link, given)
    return openSecret(api, { id, claim, keys }, retry).catch(orNotFilled(link))
  }
  for (;;) {
    const typed = await askPassphrase('Passphrase: ')
    try {
      const keys = await deriveReaderKeys(link, typed)
      return await openSecret(api, { id, claim, keys }, retry)
    } catch (error) {
      if (!canRetry(error)) throw error
      input.output.progress(error.message)
    }
  }
}

/** A request that nobody has filled yet looks like a secret that has ended. */
function orNotFilled({ kind }: ReaderLink) {
  return (error: unknown): never => {
    const isMissing = error instanceof RequestFailed && error.code === 'not_available'
    throw kind === 'own' && isMissing ? new RequestFailed('not_filled') : error
  }
}

function canRetry(error: unknown): error is Error {
  if (error instanceof SealedError) return error.code === 'passphrase_empty'
  return (
    error instanceof RequestFailed && error.code === 'wrong_passphrase' && error.triesLeft !== 0
  )
}

/** Without an acknowledgement the server destroys the secret a little later. */
async function acknowledge(api: SealedApi, id: string, claim: string): Promise<void> {
  await api.ack(id, claim).catch((error: unknown) => {
    if (!(error instanceof RequestFailed)) throw error
  })
}

export const commands: readonly Command[] = [openCommand]
