/**
 * One way to call the API. A session that ended is renewed, or the person signs in again over the open
 * page; the request then continues, because a 401 changed nothing.
 */
import { signal } from '@preact/signals'
import { ApiFailure, ConnectionFailure } from './errors.ts'
import { servicePath } from './service-path.ts'
import { renewUserToken, userToken } from './user-session.ts'

/** As whom a request is made: with the user's access token, the operator's cookie, or as nobody. */
export type Identity = 'user' | 'operator' | 'nobody'

export interface RequestOptions {
  as?: Identity
  query?: Record<string, string | number | boolean | undefined>
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it is, such as a file. */
  body?: BodyInit
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** False after a request could not reach the server, until one does. */
export const isOnline = signal(true)

/** When the server last responded. */
export const lastResponseAt = signal(Date.now())

/** The session that ended while it was in use; the shell asks to sign in again. */
export const endedSession = signal<Exclude<Identity, 'nobody'> | undefined>(undefined)

let signedIn = Promise.withResolvers<void>()

/** Called when the person signed in again: waiting requests continue. */
export function resumeSession(): void {
  endedSession.value = undefined
  signedIn.resolve()
  signedIn = Promise.withResolvers<void>()
}

/** Resolves to the JSON of the response; undefined for a response without content. */
export async function request<T>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  options: RequestOptions = {},
): Promise<T> {
  const response = await send(method, path, options)
  return (await readJson(response)) as T
}

/** The response itself, for downloads and streams. Rejects unless it is successful. */
export async function send(
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Response> {
  const { as = 'user' } = options
  for (;;) {
    const token = as === 'user' ? await userToken() : undefined
    const response = await fetchOnce(method, path, options, token)
    if (response.ok) return response
    const failure = await failureOf(response)
    if (response.status !== 401 || as === 'nobody') throw failure
    if (as === 'user' && (await renewUserToken(token))) continue
    endedSession.value = as
    await waitForSignIn(options.signal)
  }
}

async function waitForSignIn(abort: AbortSignal | undefined): Promise<void> {
  abort?.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(abort?.reason)
  abort?.addEventListener('abort', onAbort, { once: true })
  try {
    await Promise.race([signedIn.promise, aborted.promise])
  } finally {
    abort?.removeEventListener('abort', onAbort)
  }
}

async function fetchOnce(
  method: string,
  path: string,
  { query = {}, json, body, headers = {}, signal: abort }: RequestOptions,
  token: string | undefined,
): Promise<Response> {
  const url = new URL(servicePath(path), location.origin)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value))
  }
  const content = json === undefined ? body : JSON.stringify(json)
  try {
    const response = await fetch(url, {
      method,
      headers: {
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      credentials: 'same-origin',
      cache: 'no-store',
      ...(content !== undefined && { body: content }),
      ...(abort && { signal: abort }),
    })
    isOnline.value = true
    lastResponseAt.value = Date.now()
    return response
  } catch (error) {
    abort?.throwIfAborted()
    isOnline.value = false
    throw new ConnectionFailure({ cause: error })
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    // A 202 has no content either.
    const text = await response.text()
    return text === '' ? undefined : (JSON.parse(text) as unknown)
  } catch (error) {
    throw new ConnectionFailure({ cause: error })
  }
}

interface ErrorBody {
  error?: {
    code?: string
    message?: string
    data?: Record<string, unknown>
    details?: { path: string; message: string }[]
  }
}

async function failureOf(response: Response): Promise<ApiFailure> {
  const { error = {} } = (await response.json().catch(() => ({}))) as ErrorBody
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new ApiFailure({
    status: response.status,
    code: error.code ?? `http.${response.status}`,
    message: error.message ?? `The server responded with status ${response.status}.`,
    data: error.data,
    details: error.details,
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1000 : undefined,
  })
}
