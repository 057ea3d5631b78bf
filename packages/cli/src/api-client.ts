/** Calls the API of a service, over HTTP with a token. */
import { url } from '@strongroom/kit/config-types'
import { ApiError, type ErrorStatus, Failure } from '@strongroom/kit/errors'
import { settings } from '@strongroom/server/settings'
import { type CommandInput, type CommandOption, DEFAULT_SERVER, usageError } from './command.ts'

/** Where the server URL comes from without --server, for help texts. */
export const STANDARD_SERVER = `STRONGROOM_SERVER, ${DEFAULT_SERVER}`

/** The server cannot be used; the message says what to do. */
export function serverUnusable(message: string): Failure {
  return new Failure('server_unusable', message)
}

/** Sends bytes as they are, anything else as JSON. */
export type ApiClient = <T>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<T>

const TIMEOUT_MS = 60_000

/** For commands that always call a server. */
export function serverUrl({ options, env }: Pick<CommandInput, 'options' | 'env'>): string {
  const { server } = options
  if (typeof server === 'string') return parseServerUrl(server)
  return settings.parse(env).STRONGROOM_SERVER ?? DEFAULT_SERVER
}

/** Parses --server. */
function parseServerUrl(given: string): string {
  const server = url().parse(given)
  if (server === undefined) throw usageError(`--server must be ${url().expects}`)
  return server
}

export function createApiClient({
  server,
  service,
  token,
}: {
  server: string
  service: string
  token?: string
}): ApiClient {
  const send = async (
    at: string,
    method: string,
    path: string,
    body?: unknown,
    headers?: object,
  ) => {
    const isJson = body !== undefined && !(body instanceof Uint8Array)
    const response = await fetch(`${server}${at}/v1${path}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(isJson && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && {
        body: body instanceof Uint8Array ? Uint8Array.from(body) : JSON.stringify(body),
      }),
      // A redirect would send the token to another address.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw unreachable(server, error)
    })
    if (response.status === 204) return { content: undefined }
    const content: unknown = await response.json().catch(() => undefined)
    if (response.ok && content !== undefined) return { content }
    return { refused: toError(server, response.status, content) }
  }

  /** A service is below its name, or at the root of a server that runs it alone. */
  const places = service === 'server' ? ['/server'] : [`/${service}`, '']
  let at: string | undefined
  return async <T>(...request: Parameters<ApiClient>): Promise<T> => {
    for (const place of at === undefined ? places : [at]) {
      const { content, refused } = await send(place, ...request)
      if (isNotFound(refused)) continue
      if (refused) throw refused
      at = place
      return content as T
    }
    throw serviceMissing(server, service)
  }
}

export function serviceMissing(server: string, service: string): Failure {
  return serverUnusable(
    `The server at ${server} does not run ${service}: use the URL of a server that does, with its path`,
  )
}

/** There is no such route, so nothing was done. */
export function isNotFound(refused: Error | undefined): boolean {
  return refused instanceof ApiError && refused.code === 'request.not_found'
}

/** Turns an error response into an error. */
export function toError(server: string, status: number, content: unknown): Error {
  const { error } = (content ?? {}) as {
    error?: {
      code?: unknown
      message?: unknown
      details?: { path: string; message: string }[]
      data?: Record<string, unknown>
    }
  }
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') {
    return serverUnusable(
      `${server} is not a Strongroom server (status ${status}): correct the address`,
    )
  }
  const [detail] = error.details ?? []
  const message = detail ? withDetail(error.message, detail) : error.message
  const entry = { code: error.code, status: status as ErrorStatus, message }
  return new ApiError(entry, error.data && { data: error.data })
}

/** Adds the first detail to the message. */
function withDetail(message: string, detail: { path: string; message: string }): string {
  const name = detail.path.replace(/^(?:body|query|params)\./, '')
  const [what, inDetails] = message.split(/(?<=: correct )(?:the fields named in|what) details/)
  const named = inDetails === undefined ? `${message}: correct ${name}` : `${what}${name}`
  return `${named} (${detail.message})`
}

/** Codes of OpenSSL and Node: the handshake failed, or the certificate is not for this name or not trusted. */
const TLS_FAILURE = /SSL|TLS|CERT|SIGNATURE/

function unreachable(server: string, error: unknown): Failure {
  const reason = reasonOf(error)
  return serverUnusable(
    TLS_FAILURE.test(reason)
      ? `Cannot reach the server at ${server} (${reason}): it has no valid certificate for this name. Check the name, and the log of the proxy that gets its certificate`
      : `Cannot reach the server at ${server} (${reason}): check that it runs and that the address is right`,
  )
}

/** Why the server cannot be reached, in one word. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason'
  const { cause } = error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.name
}

/** For `either` commands: the server to call; undefined if they work on the store. */
function requestedServer({ options, env }: CommandInput): string | undefined {
  const { server, local } = options
  if (local === true) {
    if (server === undefined) return undefined
    throw usageError('Use either --server or --local, not both')
  }
  if (typeof server === 'string') return parseServerUrl(server)
  return settings.parse(env).STRONGROOM_SERVER
}

/** For `either` commands; undefined if they work on the store. */
export function createOperatorClientIfRequested(
  input: CommandInput,
  service: string,
): ApiClient | undefined {
  const server = requestedServer(input)
  if (server === undefined) return undefined
  return createOperatorClient({ server, service, token: requireToken(input, 'either') })
}

/** For `either` commands without a token. */
export function createAnonymousClientIfRequested(
  input: CommandInput,
  service: string,
): ApiClient | undefined {
  const server = requestedServer(input)
  return server === undefined ? undefined : createApiClient({ server, service })
}

function requireToken({ options, env }: CommandInput, kind: 'client' | 'either'): string {
  const { STRONGROOM_TOKEN: token, STRONGROOM_SERVER: server } = settings.parse(env)
  if (token !== undefined) return token
  if (kind === 'either' && options['server'] === undefined && server !== undefined) {
    throw usageError(
      "STRONGROOM_SERVER is set, so this command calls that server and requires an operator's token: set STRONGROOM_TOKEN, or use --local for the store",
    )
  }
  const who = options['server'] === undefined ? 'This command' : '--server'
  throw usageError(`${who} requires an operator's token: set STRONGROOM_TOKEN`)
}

function createOperatorClient(access: Parameters<typeof createApiClient>[0]): ApiClient {
  const api = createApiClient(access)
  return <T>(...request: Parameters<ApiClient>) =>
    api<T>(...request).catch((error: unknown) => {
      throw toCliError(error)
    })
}

/** The server's message is written for API clients. */
function toCliError(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== 'operator.unauthorized') return error
  const { code, status } = error
  const message = "The server rejects this token: set STRONGROOM_TOKEN to an operator's token"
  return new ApiError({ code, status, message })
}

export const requiredServerOption: Readonly<Record<string, CommandOption>> = {
  server: {
    value: 'URL',
    summary: `Server URL; the token is in STRONGROOM_TOKEN (${STANDARD_SERVER})`,
  },
}

/** For `client` commands, with the token in STRONGROOM_TOKEN. */
export function createServiceClient(input: CommandInput, service: string): ApiClient {
  return createOperatorClient({
    server: serverUrl(input),
    service,
    token: requireToken(input, 'client'),
  })
}
