/** The API of a service behind a server, with the token of an operator. */
import { settings } from '@strongroom/server/settings'
import { type CommandInput, type CommandOption, UsageError } from './command.ts'
import { type Ask, serverAddress, serviceApi } from './service-api.ts'

/** The option of commands that work on the store unless a server is given. */
export const onServer: Readonly<Record<string, CommandOption>> = {
  server: {
    value: 'URL',
    summary: 'Ask this server, with the token in STRONGROOM_TOKEN, instead of the store itself',
  },
}

/** Undefined without --server: then the command works on the store. */
export function operatorApiIfGiven(input: CommandInput, service: string): Ask | undefined {
  const { server } = input.options
  return typeof server === 'string' ? operatorApi(input, service, server) : undefined
}

/** With the token in STRONGROOM_TOKEN. */
export function operatorApi({ options, env }: CommandInput, service: string, given: string): Ask {
  const server = serverAddress(given)
  const { STRONGROOM_TOKEN: token } = settings.parse(env)
  if (token === undefined) {
    const who = options['server'] === undefined ? 'This' : '--server'
    throw new UsageError(`${who} needs the token of an operator: set STRONGROOM_TOKEN`)
  }
  return serviceApi({ server, service, token })
}
