/** Where the signing secret of a source comes from; never an argument, which everybody can see. */
import { settings } from '@strongroom/server/settings'
import { type CommandInput, type CommandOption, UsageError } from '../command.ts'
import { readDescriptor } from '../read-descriptor.ts'
import { textIn } from './given-file.ts'

export const secretOptions = {
  'secret-fd': { value: 'N', summary: 'Read the signing secret from this file descriptor' },
  'secret-file': { value: 'PATH', summary: 'Read the signing secret from this file' },
} as const satisfies Record<string, CommandOption>

export const secretHelp = `The signing secret comes from --secret-fd, --secret-file, FERRYHOOK_SIGNING_SECRET or the file that
FERRYHOOK_SIGNING_SECRET_FILE names; otherwise it is asked for, or read from standard input.`

/** The secret that is there without asking anybody; undefined if there is none. */
export function givenSecret({
  options,
  env,
}: Pick<CommandInput, 'options' | 'env'>): string | undefined {
  const { 'secret-fd': descriptor, 'secret-file': file } = options
  if (descriptor !== undefined && file !== undefined) {
    throw new UsageError('--secret-fd and --secret-file exclude each other: choose one')
  }
  const text =
    descriptor === undefined
      ? textIn('secret-file', file)
      : readDescriptor('secret-fd', String(descriptor))
  if (text === undefined) return settings.parse(env).FERRYHOOK_SIGNING_SECRET
  const secret = text.trim()
  if (secret === '') throw new UsageError('The signing secret that was given is empty')
  return secret
}
