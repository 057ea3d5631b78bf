/**
 * Where a passphrase comes from: a prompt, a file descriptor, the environment or a file that it
 * names. Never an argument, which every user of the machine can see.
 */
import type { CommandInput, CommandOption } from '../command.ts'
import { UsageError } from '../command.ts'
import { readDescriptor, readGivenFile } from '../read-given.ts'
import { askHidden, openKeyboard } from './keyboard.ts'

export const passphraseOptions = {
  passphrase: { summary: 'Ask for a passphrase' },
  'passphrase-fd': { value: 'N', summary: 'Read the passphrase from this file descriptor' },
} as const satisfies Record<string, CommandOption>

export const passphraseHelp = `A passphrase may also be in STRONGROOM_PASSPHRASE, or in the file that STRONGROOM_PASSPHRASE_FILE
names; a newline at the end of a file or a descriptor is not part of it.`

const MAX_BYTES = 4096

type Options = CommandInput['options']

export function asksForPassphrase(options: Options): boolean {
  if (options['passphrase'] !== true) return false
  if (options['passphrase-fd'] === undefined) return true
  throw new UsageError('--passphrase and --passphrase-fd exclude each other: choose one')
}

export function refuseSharedInput(options: Options, other: string): void {
  if (!/^0+$/.test(String(options['passphrase-fd']))) return
  throw new UsageError(
    `Standard input cannot hold both ${other} and the passphrase: use another descriptor`,
  )
}

/** The passphrase that is there without asking anybody; undefined if there is none. */
export async function givenPassphrase({
  options,
  env,
}: Pick<CommandInput, 'options' | 'env'>): Promise<string | undefined> {
  if (asksForPassphrase(options)) return undefined
  const descriptor = options['passphrase-fd']
  if (typeof descriptor === 'string') {
    const read = await readDescriptor('passphrase-fd', descriptor, MAX_BYTES)
    return usable(read, '--passphrase-fd')
  }
  // Exactly as it is: spaces may be part of it.
  const text = env['STRONGROOM_PASSPHRASE'] || undefined
  const file = env['STRONGROOM_PASSPHRASE_FILE']?.trim() || undefined
  if (text !== undefined && file !== undefined) {
    throw new UsageError(
      'STRONGROOM_PASSPHRASE and STRONGROOM_PASSPHRASE_FILE are both set: remove one',
    )
  }
  if (file === undefined) return text
  const name = 'STRONGROOM_PASSPHRASE_FILE'
  return usable(await readGivenFile(name, file, MAX_BYTES), name)
}

/** There is nobody to ask. */
export class NoPassphrase extends Error {
  override readonly name = 'NoPassphrase'
  readonly code = 'no_passphrase'

  constructor() {
    super(
      'A passphrase is needed, but there is no terminal to ask: use --passphrase-fd or STRONGROOM_PASSPHRASE',
    )
  }
}

export async function askPassphrase(question: string): Promise<string> {
  const keyboard = openKeyboard()
  if (!keyboard) throw new NoPassphrase()
  try {
    return await askHidden(keyboard, question)
  } finally {
    keyboard.close()
  }
}

/** Asks twice, because nobody sees what is typed. */
export async function askNewPassphrase(): Promise<string> {
  const first = await askPassphrase('Passphrase: ')
  if (first === (await askPassphrase('The same again: '))) return first
  throw new UsageError('The two passphrases differ: run the command again')
}

function usable(text: string | undefined, source: string): string {
  if (text === undefined) throw new UsageError(`The passphrase has more than ${MAX_BYTES} bytes`)
  const passphrase = text.replace(/\r?\n$/, '')
  if (passphrase !== '') return passphrase
  throw new UsageError(`There is no passphrase in ${source}: write one to it`)
}
