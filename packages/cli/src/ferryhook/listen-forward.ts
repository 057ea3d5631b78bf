/** Sends an event on to a program of this machine, as it came: method, headers and bytes. */
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'

/** As the stream of Ferryhook has it. */
export interface LiveEvent {
  id: string
  receivedAt: string
  /** Whether its signature was not right. */
  unverified: boolean
  method: string
  query: string | null
  headers: Record<string, string | string[]>
  body: string
  encoding: 'utf-8' | 'base64'
}

export interface Forwarded {
  /** Undefined if there was no answer. */
  status: number | undefined
  /** Why there was none. */
  error: string | undefined
  ms: number
}

export interface Forwarder {
  forward(event: LiveEvent, signal: AbortSignal): Promise<Forwarded>
  close(): void
}

/** They are of one connection (RFC 9110 section 7.6.1), or follow from where the request goes. */
const ofTheConnection = new Set([
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

/** What stands for the value of a header that Ferryhook does not keep, since it is a secret. */
const NOT_KEPT = '(not kept)'

const TIMEOUT_MS = 30_000

class NoAnswer extends Error {}

export function createForwarder(to: URL): Forwarder {
  const isSecure = to.protocol === 'https:'
  const agent = isSecure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const request = isSecure ? httpsRequest : httpRequest

  function answerTo(event: LiveEvent, signal: AbortSignal): Promise<number> {
    const body = Buffer.from(event.body, event.encoding)
    const headers = Object.entries(event.headers).filter(
      ([name, value]) => value !== NOT_KEPT && !ofTheConnection.has(name.toLowerCase()),
    )
    return new Promise<number>((resolve, reject) => {
      const sent = request(
        addressOf(to, event.query),
        {
          agent,
          method: event.method,
          headers: { ...Object.fromEntries(headers), 'content-length': body.byteLength },
          signal,
        },
        (answer) => {
          answer.on('error', reject)
          answer.on('end', () => resolve(answer.statusCode ?? 0))
          answer.resume()
        },
      )
      const late = setTimeout(() => sent.destroy(new NoAnswer()), TIMEOUT_MS)
      sent.on('close', () => clearTimeout(late))
      sent.on('error', reject)
      sent.end(body)
    })
  }

  return {
    async forward(event, signal) {
      const startedAt = performance.now()
      const took = () => Math.round(performance.now() - startedAt)
      try {
        const status = await answerTo(event, signal)
        return { status, error: undefined, ms: took() }
      } catch (error) {
        return { status: undefined, error: reasonOf(error, signal), ms: took() }
      }
    },
    close: () => agent.destroy(),
  }
}

/** With the query that the event came with behind its own. */
function addressOf(to: URL, query: string | null): URL {
  if (query === null || query === '') return to
  const address = new URL(to)
  address.search = to.search === '' ? query : `${to.search}&${query}`
  return address
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'interrupted'
  if (!(error instanceof Error)) return 'failed'
  if (error instanceof NoAnswer) return `no answer in ${TIMEOUT_MS / 1000} s`
  return 'code' in error ? String(error.code) : error.name
}
