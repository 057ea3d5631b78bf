/** The API of a service behind a server, over HTTP with a token. */
import { url } from '@strongroom/kit/config-types'
import { ApiError, type ErrorStatus } from '@strongroom/kit/errors'
import { settings } from '@strongroom/server/settings'
import { type CommandInput, UsageError } from './command.ts'
import { DEFAULT_SERVER } from './default-server.ts'

/** Where the server is unless --server says otherwise, for help texts. */
export const STANDARD_SERVER = `STRONGROOM_SERVER, ${DEFAULT_SERVER}`

/** The server cannot be used; the message is one line that says what to do. */
export class ServerUnusable extends Error {
  override readonly name = 'ServerUnusable'
  readonly code = 'server_unusable'
}

/** Bytes are sent as they are, with headers that say what they are; anything else as JSON. */
export type Ask = <T>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<T>

const TIMEOUT_MS = 60_000

/** Of commands that always ask a server. */
export function serverIn({ options, env }: Pick<CommandInput, 'options' | 'env'>): string {
  const { server } = options
  if (typeof server === 'string') return serverAddress(server)
  return settings.parse(env).STRONGROOM_SERVER ?? DEFAULT_SERVER
}

/** The address given with --server. */
export function serverAddress(given: string): string {
  const server = url().parse(given)
  if (server === undefined) throw new UsageError(`--server must be ${url().expects}`)
  return server
}

export function serviceApi({
  server,
  service,
  token,
}: {
  server: string
  service: string
  token: string
}): Ask {
  const asked = async (
    at: string,
    method: string,
    path: string,
    body?: unknown,
    headers?: object,
  ) => {
    const isJson = body !== undefined && !(body instanceof Uint8Array)
    const answer = await fetch(`${server}${at}/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(isJson && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && {
        body: body instanceof Uint8Array ? Uint8Array.from(body) : JSON.stringify(body),
      }),
      // A redirect would take the token to an address that nobody typed.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw new ServerUnusable(
        `Cannot reach the server at ${server} (${reasonOf(error)}): see that it runs, and that the address is right`,
      )
    })
    if (answer.status === 204) return { content: undefined }
    const content: unknown = await answer.json().catch(() => undefined)
    if (answer.ok && content !== undefined) return { content }
    return { refused: refusal(server, answer.status, content) }
  }

  /** Where the service is: below its name, or at the root of a server that runs it alone. */
  let at: string | undefined
  return async <T>(...request: Parameters<Ask>): Promise<T> => {
    for (const place of at === undefined ? [`/${service}`, ''] : [at]) {
      const { content, refused } = await asked(place, ...request)
      if (isNowhere(refused)) continue
      if (refused) throw refused
      at = place
      return content as T
    }
    throw missing(server, service)
  }
}

export function missing(server: string, service: string): ServerUnusable {
  return new ServerUnusable(
    `The server at ${server} has no ${service}: give the address of one that runs it, with the path it is below, if any`,
  )
}

/** Nothing of ours is at the address, so nothing was done either. */
export function isNowhere(refused: Error | undefined): boolean {
  return refused instanceof ApiError && refused.code === 'request.not_found'
}

/** What a server says no with, or that it is none of ours. */
export function refusal(server: string, status: number, content: unknown): Error {
  const { error } = (content ?? {}) as {
    error?: {
      code?: unknown
      message?: unknown
      details?: { path: string; message: string }[]
      data?: Record<string, unknown>
    }
  }
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') {
    return new ServerUnusable(
      `What answers at ${server} is not a Strongroom (status ${status}): correct the address`,
    )
  }
  const [detail] = error.details ?? []
  const message = detail ? withDetail(error.message, detail) : error.message
  const entry = { code: error.code, status: status as ErrorStatus, message }
  return new ApiError(entry, error.data && { data: error.data })
}

/** Programs look for it in the details; people are told at once. */
function withDetail(message: string, detail: { path: string; message: string }): string {
  const name = detail.path.replace(/^(?:body|query|params)\./, '')
  const [what, inDetails] = message.split(/(?<=: correct )(?:the fields named in|what) details/)
  const named = inDetails === undefined ? `${message}: correct ${name}` : `${what}${name}`
  return `${named} (${detail.message})`
}

/** Why the other end cannot be reached, in one word. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason given'
  const { cause } = error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.name
}
