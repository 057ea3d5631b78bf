/**
 * Reads a passphrase from a prompt, a file descriptor, the environment or a file that it names.
 * Never from an argument, which every user of the machine can see.
 */
import { Failure } from '@strongroom/kit/errors'
import { type CommandInput, type CommandOption, usageError } from '../command.ts'
import { readDescriptor, readTextFile } from '../input.ts'
import { askOnTerminal, hasTerminal } from '../prompt.ts'

export const passphraseOptions = {
  passphrase: { summary: 'Ask for a passphrase' },
  'passphrase-fd': { value: 'N', summary: 'Read the passphrase from this file descriptor' },
} as const satisfies Record<string, CommandOption>

export const passphraseHelp = `A passphrase may also be in STRONGROOM_PASSPHRASE, or in the file that STRONGROOM_PASSPHRASE_FILE
names; a newline at the end of a file or a descriptor is not part of it. --passphrase asks on the
terminal instead, and uses them only if there is none.`

const MAX_PASSPHRASE_BYTES = 4096

type Options = CommandInput['options']

export function asksForPassphrase(options: Options): boolean {
  if (options['passphrase'] !== true) return false
  if (options['passphrase-fd'] === undefined) return true
  throw usageError('--passphrase and --passphrase-fd exclude each other: choose one')
}

export function refuseSharedInput(options: Options, other: string): void {
  if (!/^0+$/.test(String(options['passphrase-fd']))) return
  throw usageError(
    `Standard input cannot contain both ${other} and the passphrase: use another descriptor`,
  )
}

/**
 * The passphrase from options or the environment, without asking. "--passphrase" asks, so it is read
 * from the environment only if there is no terminal to ask on.
 */
export async function readConfiguredPassphrase({
  options,
  env,
}: Pick<CommandInput, 'options' | 'env'>): Promise<string | undefined> {
  if (asksForPassphrase(options) && hasTerminal()) return undefined
  const descriptor = options['passphrase-fd']
  if (typeof descriptor === 'string') {
    const read = await readDescriptor('passphrase-fd', descriptor, MAX_PASSPHRASE_BYTES)
    return requirePassphrase(read, '--passphrase-fd')
  }
  // Not trimmed: spaces may be part of it.
  const text = env['STRONGROOM_PASSPHRASE'] || undefined
  const file = env['STRONGROOM_PASSPHRASE_FILE']?.trim() || undefined
  if (text !== undefined && file !== undefined) {
    throw usageError(
      'STRONGROOM_PASSPHRASE and STRONGROOM_PASSPHRASE_FILE are both set: remove one',
    )
  }
  if (file === undefined) return text
  const name = 'STRONGROOM_PASSPHRASE_FILE'
  return requirePassphrase(await readTextFile(name, file, MAX_PASSPHRASE_BYTES), name)
}

export async function askPassphrase(question: string): Promise<string> {
  const typed = await askOnTerminal(question)
  if (typed !== undefined) return typed
  throw new Failure(
    'no_passphrase',
    'A passphrase is required, but there is no terminal to ask on: use --passphrase-fd or STRONGROOM_PASSPHRASE',
  )
}

/** Asks twice, because what is typed is not shown. */
export async function askNewPassphrase(): Promise<string> {
  const first = await askPassphrase('Passphrase: ')
  if (first === (await askPassphrase('Repeat the passphrase: '))) return first
  throw usageError('The passphrases do not match: run the command again')
}

function requirePassphrase(text: string | undefined, source: string): string {
  if (text === undefined)
    throw usageError(`The passphrase is longer than ${MAX_PASSPHRASE_BYTES} bytes`)
  const passphrase = text.replace(/\r?\n$/, '')
  if (passphrase !== '') return passphrase
  throw usageError(`${source} contains no passphrase: write one to it`)
}
