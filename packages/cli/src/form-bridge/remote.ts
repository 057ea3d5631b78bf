/** Form-Bridge behind a server, over HTTP with the token of an operator. */
import { UsageError, type CommandInput } from '../command.ts'
import { reasonOf, refusal, ServerUnusable } from '../commands/keys-remote.ts'
import { url } from '@strongroom/kit/config-types'
import { settings } from '@strongroom/server/settings'

const TIMEOUT_MS = 60_000

export type Ask = <T>(method: string, path: string, upload?: Upload) => Promise<T>

export interface Upload {
  bytes: Uint8Array
  headers: Record<string, string>
}

/** Undefined without --server: then the command works on the store. */
export function remoteOf({ options, env }: CommandInput): Ask | undefined {
  if (typeof options['server'] !== 'string') return undefined
  const server = url().parse(options['server'])
  if (server === undefined) throw new UsageError(`--server must be ${url().expects}`)
  const { STRONGROOM_TOKEN: token } = settings.parse(env)
  if (token === undefined)
    throw new UsageError('--server needs the token of an operator: set STRONGROOM_TOKEN')
  return async (method, path, upload) => {
    const answer = await fetch(`${server}/form-bridge/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...upload?.headers },
      ...(upload && { body: Uint8Array.from(upload.bytes) }),
      // A redirect would take the token to an address that nobody typed.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw new ServerUnusable(
        `Cannot reach the server at ${server} (${reasonOf(error)}): see that it runs, and that the address is right`,
      )
    })
    const content: unknown = await answer.json().catch(() => undefined)
    if (answer.ok && content !== undefined) return content as never
    throw refusal(server, answer.status, content)
  }
}
