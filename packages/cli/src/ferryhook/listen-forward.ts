/** Forwards an event to a local program with its original method, headers and bytes. */
import { isProxyHeader } from '@strongroom/kit/proxy-headers'
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'

/** An event in Ferryhook's stream. */
export interface LiveEvent {
  id: string
  receivedAt: string
  type: string | null
  /** Signature verification failed. */
  unverified: boolean
  method: string
  query: string | null
  headers: Record<string, string | string[]>
  body: string
  encoding: 'utf-8' | 'base64'
}

export interface Forwarded {
  /** Undefined without a response. */
  status: number | undefined
  /** Why there was no response. */
  error: string | undefined
  ms: number
}

export interface Forwarder {
  forward(event: LiveEvent, signal: AbortSignal): Promise<Forwarded>
  close(): void
}

/** Hop-by-hop headers (RFC 9110 section 7.6.1), and headers that depend on the destination. */
const NOT_FORWARDED = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Ferryhook stores this in place of a header value that is a secret. */
const NOT_KEPT = '(not kept)'

const TIMEOUT_MS = 30_000

export function createForwarder(to: URL): Forwarder {
  const isSecure = to.protocol === 'https:'
  const agent = isSecure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const request = isSecure ? httpsRequest : httpRequest

  /** The status of the response; undefined if there is none in time. */
  function send(event: LiveEvent, signal: AbortSignal): Promise<number | undefined> {
    const body = Buffer.from(event.body, event.encoding)
    const headers = Object.entries(event.headers).filter(
      ([name, value]) =>
        value !== NOT_KEPT && !NOT_FORWARDED.has(name.toLowerCase()) && !isProxyHeader(name),
    )
    return new Promise((resolve, reject) => {
      const sent = request(
        withQuery(to, event.query),
        {
          agent,
          method: event.method,
          headers: { ...Object.fromEntries(headers), 'content-length': body.byteLength },
          signal,
        },
        (response) => {
          response.on('error', reject)
          response.on('end', () => resolve(response.statusCode ?? 0))
          response.resume()
        },
      )
      const timeout = setTimeout(() => {
        resolve(undefined)
        sent.destroy()
      }, TIMEOUT_MS)
      sent.on('close', () => clearTimeout(timeout))
      sent.on('error', reject)
      sent.end(body)
    })
  }

  return {
    async forward(event, signal) {
      const startedAt = performance.now()
      const elapsedMs = () => Math.round(performance.now() - startedAt)
      try {
        const status = await send(event, signal)
        const error = status === undefined ? `no response in ${TIMEOUT_MS / 1000} s` : undefined
        return { status, error, ms: elapsedMs() }
      } catch (error) {
        return { status: undefined, error: reasonOf(error, signal), ms: elapsedMs() }
      }
    },
    close: () => agent.destroy(),
  }
}

/** Appends the query of the event to that of the URL. */
function withQuery(to: URL, query: string | null): URL {
  if (query === null || query === '') return to
  const url = new URL(to)
  url.search = to.search === '' ? query : `${to.search}&${query}`
  return url
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'interrupted'
  if (!(error instanceof Error)) return 'failed'

  return 'code' in error ? String(error.code) : error.name
}
