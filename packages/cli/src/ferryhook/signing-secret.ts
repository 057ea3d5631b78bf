/** Where a source's signing secret comes from. Never an argument, which other users can see. */
import { settings } from '@strongroom/server/settings'
import { type CommandInput, type CommandOption, usageError } from '../command.ts'
import { readDescriptor, readTextFile } from '../input.ts'

export const secretOptions = {
  'secret-fd': { value: 'N', summary: 'Read the signing secret from this file descriptor' },
  'secret-file': { value: 'PATH', summary: 'Read the signing secret from this file' },
} as const satisfies Record<string, CommandOption>

export const secretHelp = `The signing secret comes from --secret-fd, --secret-file, FERRYHOOK_SIGNING_SECRET or the file that
FERRYHOOK_SIGNING_SECRET_FILE names; otherwise from a prompt or standard input.`

const MAX_SECRET_BYTES = 1_024

/** The secret from options or the environment, without asking. */
export async function readConfiguredSecret(
  input: Pick<CommandInput, 'options' | 'env'>,
): Promise<string | undefined> {
  const { FERRYHOOK_SIGNING_SECRET: inEnvironment } = settings.parse(input.env)
  return (await readSecretOption(input)) ?? inEnvironment
}

/** `--unsigned` excludes a signing secret. */
export function rejectSecretIfUnsigned(
  given: string | undefined,
  { options }: Pick<CommandInput, 'options'>,
) {
  if (options['unsigned'] !== true || given === undefined) return
  throw usageError('--unsigned excludes a signing secret: omit one of them')
}

/** Not from the environment, which may be meant for another source. */
export async function readSecretOption({
  options,
}: Pick<CommandInput, 'options'>): Promise<string | undefined> {
  const { 'secret-fd': descriptor, 'secret-file': file } = options
  if (descriptor === undefined && file === undefined) return undefined
  if (descriptor !== undefined && file !== undefined) {
    throw usageError('--secret-fd and --secret-file exclude each other: choose one')
  }
  const text =
    descriptor === undefined
      ? await readTextFile('--secret-file', String(file), MAX_SECRET_BYTES)
      : await readDescriptor('secret-fd', String(descriptor), MAX_SECRET_BYTES)
  if (text === undefined) throw usageError(`A signing secret has at most ${MAX_SECRET_BYTES} bytes`)
  const secret = text.trim()
  if (secret === '') throw usageError('The signing secret is empty')
  return secret
}
