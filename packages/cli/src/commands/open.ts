/** `strongroom open`: from a link to the text. */
import type { SealedApi } from '@strongroom/sealed/client/api'
import { RequestFailed } from '@strongroom/sealed/client/errors'
import { openSecret, type OpenedSecret } from '@strongroom/sealed/client/open-secret'
import { SealedError } from '@strongroom/sealed/crypto/errors'
import { deriveKeys } from '@strongroom/sealed/crypto/keys'
import type { Link } from '@strongroom/sealed/crypto/link'
import { newClaim } from '@strongroom/sealed/crypto/seal'
import type { Command, CommandInput } from '../command.ts'
import { connect, connectionOptions, exitCodes, patienceSaying } from '../sealed/connection.ts'
import { secretLink } from '../sealed/link-argument.ts'
import {
  askPassphrase,
  givenPassphrase,
  passphraseHelp,
  passphraseOptions,
  refuseSharedInput,
} from '../sealed/passphrase.ts'
import { forTerminal } from '../for-terminal.ts'
import { writeOut } from '../sealed/write-out.ts'

export const openCommand: Command = {
  name: 'open',
  args: '[LINK]',
  summary: 'Open a link and print the secret exactly as it was sealed',
  secretArgs: true,
  options: { ...passphraseOptions, ...connectionOptions },
  about: `Without a link, or with "-", reads it from standard input, so that it is not left in the history
of the shell. Asks for the passphrase if the secret has one.

This takes one view. If the answer gets lost it is asked for again for half a minute, and that
takes no other.

${passphraseHelp}

${exitCodes}`,
  async run(input) {
    const [given = '-'] = input.args
    if (given === '-') refuseSharedInput(input.options, 'the link')
    const link = await secretLink(given)
    const api = connect(link.base, input)
    // Made before the first request: whoever comes again with it is the same reader.
    const claim = newClaim()
    const { text, remainingViews } = await openAsking(api, link, claim, input)
    if (input.json) await writeOut(`${JSON.stringify({ text, remainingViews }, null, 2)}\n`)
    else if (process.stdout.isTTY) await showOnTerminal(text)
    else await writeOut(text)
    await acknowledge(api, link.id, claim)
  },
}

async function showOnTerminal(text: string): Promise<void> {
  const { shown, isExact } = forTerminal(text)
  await writeOut(shown)
  // The shell's next line must not begin at the end of the secret.
  if (!shown.endsWith('\n')) process.stderr.write('\n')
  if (isExact) return
  process.stderr.write(
    'Its control characters are shown as symbols; for the exact text: strongroom open LINK > FILE\n',
  )
}

async function openAsking(
  api: SealedApi,
  { id, fragment }: Link & { kind: 'secret' },
  claim: string,
  input: CommandInput,
): Promise<OpenedSecret> {
  const patience = patienceSaying(input.output)
  const given = fragment.passphraseProtected ? await givenPassphrase(input) : undefined
  if (given !== undefined || !fragment.passphraseProtected) {
    return openSecret(api, { id, claim, keys: await deriveKeys(fragment, given) }, patience)
  }
  for (;;) {
    const typed = await askPassphrase('Passphrase: ')
    try {
      const keys = await deriveKeys(fragment, typed)
      return await openSecret(api, { id, claim, keys }, patience)
    } catch (error) {
      if (!mayTryAgain(error)) throw error
      input.output.progress(error.message)
    }
  }
}

function mayTryAgain(error: unknown): error is Error {
  if (error instanceof SealedError) return error.code === 'passphrase_empty'
  return (
    error instanceof RequestFailed && error.code === 'wrong_passphrase' && error.triesLeft !== 0
  )
}

/** A server that does not hear of it destroys the secret a little later by itself. */
async function acknowledge(api: SealedApi, id: string, claim: string): Promise<void> {
  await api.ack(id, claim).catch((error: unknown) => {
    if (!(error instanceof RequestFailed)) throw error
  })
}
