/** Two-key behind a server, over HTTP with the token of an operator: decisions are in its memory. */
import { url } from '@strongroom/kit/config-types'
import { settings } from '@strongroom/server/settings'
import { type CommandInput, type CommandOption, UsageError } from '../command.ts'
import { reasonOf, refusal, ServerUnusable } from './keys-remote.ts'

const DEFAULT_SERVER = 'http://127.0.0.1:4280'
const TIMEOUT_MS = 30_000

export const atServer: Readonly<Record<string, CommandOption>> = {
  server: { value: 'URL', summary: `Where the server is reached (${DEFAULT_SERVER})` },
}

export type Ask = <T>(method: string, path: string, body?: unknown) => Promise<T>

/** Asks the operator API of Two-key, with the token in STRONGROOM_TOKEN. */
export function twoKeyAt({ options, env }: CommandInput): Ask {
  const server = url().parse(String(options['server'] ?? DEFAULT_SERVER))
  if (server === undefined) throw new UsageError(`--server must be ${url().expects}`)
  const { STRONGROOM_TOKEN: token } = settings.parse(env)
  if (token === undefined)
    throw new UsageError('This needs the token of an operator: set STRONGROOM_TOKEN')

  return async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(`${server}/two-key/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // A redirect would take the token to an address that nobody typed.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw new ServerUnusable(
        `Cannot reach the server at ${server} (${reasonOf(error)}): see that it runs, and that the address is right`,
      )
    })
    if (answer.status === 204) return undefined as T
    const content: unknown = await answer.json().catch(() => undefined)
    if (answer.ok && content !== undefined) return content as T
    throw refusal(server, answer.status, content)
  }
}
