/** Where the signing secret of a source comes from; never an argument, which everybody can see. */
import { settings } from '@strongroom/server/settings'
import { type CommandInput, type CommandOption, UsageError } from '../command.ts'
import { readDescriptor, readGivenFile } from '../read-given.ts'

export const secretOptions = {
  'secret-fd': { value: 'N', summary: 'Read the signing secret from this file descriptor' },
  'secret-file': { value: 'PATH', summary: 'Read the signing secret from this file' },
} as const satisfies Record<string, CommandOption>

export const secretHelp = `The signing secret comes from --secret-fd, --secret-file, FERRYHOOK_SIGNING_SECRET or the file that
FERRYHOOK_SIGNING_SECRET_FILE names; otherwise it is asked for, or read from standard input.`

const MAX_BYTES = 1_024

/** The secret that is there without asking anybody; undefined if there is none. */
export async function givenSecret(
  input: Pick<CommandInput, 'options' | 'env'>,
): Promise<string | undefined> {
  const { FERRYHOOK_SIGNING_SECRET: inEnvironment } = settings.parse(input.env)
  return (await secretInOptions(input)) ?? inEnvironment
}

/** Whoever says that nothing is signed has no secret to give. */
export function refuseSecret(
  given: string | undefined,
  { options }: Pick<CommandInput, 'options'>,
) {
  if (options['unsigned'] !== true || given === undefined) return
  throw new UsageError('A signing secret was given: leave it away, or leave out --unsigned')
}

/** What the environment has may be meant for another source. */
export async function secretInOptions({
  options,
}: Pick<CommandInput, 'options'>): Promise<string | undefined> {
  const { 'secret-fd': descriptor, 'secret-file': file } = options
  if (descriptor === undefined && file === undefined) return undefined
  if (descriptor !== undefined && file !== undefined) {
    throw new UsageError('--secret-fd and --secret-file exclude each other: choose one')
  }
  const text =
    descriptor === undefined
      ? await readGivenFile('--secret-file', String(file), MAX_BYTES)
      : await readDescriptor('secret-fd', String(descriptor), MAX_BYTES)
  if (text === undefined) throw new UsageError(`A signing secret has at most ${MAX_BYTES} bytes`)
  const secret = text.trim()
  if (secret === '') throw new UsageError('The signing secret that was given is empty')
  return secret
}
