/** The API of a service behind a server, with the token of an operator. */
import { ApiError } from '@strongroom/kit/errors'
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
  return typeof server === 'string' ? operatorApi(input, service, serverAddress(server)) : undefined
}

/** With the token in STRONGROOM_TOKEN. */
export function operatorApi({ options, env }: CommandInput, service: string, server: string): Ask {
  const { STRONGROOM_TOKEN: token } = settings.parse(env)
  if (token === undefined) {
    const who = options['server'] === undefined ? 'This' : '--server'
    throw new UsageError(`${who} needs the token of an operator: set STRONGROOM_TOKEN`)
  }
  const ask = serviceApi({ server, service, token })
  return <T>(...request: Parameters<Ask>) =>
    ask<T>(...request).catch((error: unknown) => {
      throw inWords(error)
    })
}

/** Where the server speaks to a program, of what to send. */
function inWords(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== 'operator.unauthorized') return error
  const { code, status } = error
  const message = 'The server does not take this token: set STRONGROOM_TOKEN to that of an operator'
  return new ApiError({ code, status, message })
}
