/**
 * Follows the events of a source and reconnects when the connection breaks. A new connection resumes
 * after the last event received, and no event is handled twice.
 */
import type { StartTimer } from '@strongroom/platform/timers'
import { isNotFound, serviceMissing, reasonOf, toError, serverUnusable } from '../api-client.ts'
import { ApiError, Failure } from '@strongroom/kit/errors'
import { type Frame, readFrames } from './listen-frames.ts'
import type { LiveEvent } from './listen-forward.ts'

export interface ListenOptions {
  server: string
  sourceId: string
  /** Only events of this type. */
  type?: string | undefined
  key: string
  /** Stops listening. */
  signal: AbortSignal
  startTimer: StartTimer
  random: () => number
  /** One event at a time, in order of arrival. */
  onEvent(event: LiveEvent): Promise<void>
  /** The stream is open; `again` after a reconnection. */
  onReady(opened: { again: boolean }): void
  onBreak(disconnected: { reason: string; retryInMs: number }): void
  /** The server no longer knows the position, so events received while disconnected are skipped. */
  onGap(): void
}

/** Three of the server's heartbeats. */
const IDLE_TIMEOUT_MS = 45_000
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000
/** More than the server repeats after a reconnection. */
const MAX_REMEMBERED_IDS = 100_000

/** The connection broke, or the server is unavailable; worth a retry. */
interface Disconnect {
  reason: string
  retryAfterMs?: number | undefined
}

/** Resolves when the signal fires; throws failures that a retry would not change. */
export async function listen(options: ListenOptions): Promise<void> {
  const { server, sourceId, key, signal, startTimer } = options
  const query = options.type === undefined ? '' : `?type=${encodeURIComponent(options.type)}`
  const handled = createMemory()
  /** Ferryhook is below its name, or at the root of a server that runs it alone. */
  let prefix = '/ferryhook'
  let lastEventId: string | undefined
  let wasReady = false
  let retries = 0

  async function connect(ended: AbortSignal): Promise<ReadableStream<Uint8Array> | Disconnect> {
    const response = await fetch(`${server}${prefix}/v1/sources/${sourceId}/stream${query}`, {
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${key}`,
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
      // A redirect would send the key to another address.
      redirect: 'error',
      signal: ended,
    })
    const { status, headers } = response
    const type = headers.get('content-type') ?? ''
    if (response.ok && response.body && type.startsWith('text/event-stream')) return response.body
    const refused = toError(server, status, await response.json().catch(() => undefined))
    if (isNotFound(refused)) {
      if (prefix === '') throw serviceMissing(server, 'ferryhook')
      prefix = ''
      return connect(ended)
    }
    const isTransient = status === 429 || status >= 500
    if (!isTransient) throw refused
    return { reason: `status ${status}`, retryAfterMs: parseRetryAfter(headers.get('retry-after')) }
  }

  /** Handles events until the connection ends. */
  async function follow(): Promise<Disconnect> {
    const idle = new AbortController()
    let stopTimer = () => {}
    const resetTimer = () => {
      stopTimer()
      stopTimer = startTimer(IDLE_TIMEOUT_MS, () => idle.abort())
    }
    resetTimer()
    try {
      const ended = AbortSignal.any([signal, idle.signal])
      const opened = await connect(ended)
      if ('reason' in opened) return opened
      for await (const frame of readFrames(opened, { signal: ended, onChunk: resetTimer })) {
        // A slow local program does not make the server idle.
        stopTimer()
        const end = await handle(frame)
        if (end) return end
        resetTimer()
      }
      return { reason: 'the server closed the connection' }
    } catch (error) {
      if (idle.signal.aborted) return { reason: 'no data received' }
      // The server decided; any other error is one of the connection.
      if (error instanceof Failure || error instanceof ApiError) throw error
      return { reason: reasonOf(error) }
    } finally {
      stopTimer()
    }
  }

  async function handle({ event, id, data }: Frame): Promise<Disconnect | undefined> {
    const content = JSON.parse(data) as LiveEvent & { reason?: string }
    if (event === 'ready') {
      retries = 0
      options.onReady({ again: wasReady })
      wasReady = true
    }
    if (event === 'end') return toDisconnect(server, content.reason)
    if (event === 'event' && handled.isNew(content.id)) await options.onEvent(content)
    lastEventId = id ?? lastEventId
    return undefined
  }

  while (!signal.aborted) {
    const disconnect = await follow().catch((error: unknown) => {
      const isLostPosition = isGap(error) && lastEventId !== undefined
      if (!isLostPosition && !signal.aborted) throw error
      return 'gap' as const
    })
    if (signal.aborted) return
    if (disconnect === 'gap') {
      lastEventId = undefined
      options.onGap()
      continue
    }
    // Without a first connection, the address is most likely wrong.
    if (!wasReady) throw unreachable(server, disconnect)
    const { reason, retryAfterMs: pauseMs = backOffMs(retries++, options.random) } = disconnect
    options.onBreak({ reason, retryInMs: pauseMs })
    await pause(pauseMs, options)
  }
}

function toDisconnect(server: string, reason: string | undefined): Disconnect {
  if (reason === 'unauthorized') {
    throw serverUnusable(`${server} no longer accepts the API key: use another one`)
  }
  if (reason === 'source_deleted') throw serverUnusable('The source was deleted')
  return {
    reason: reason === 'stopping' ? 'the server is stopping' : 'the server ended the stream',
  }
}

function unreachable(server: string, { reason }: Disconnect): Failure {
  return serverUnusable(
    `Cannot listen at ${server} (${reason}): check that it runs and that the address is right`,
  )
}

function isGap(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'request.invalid_cursor'
}

/** Doubles with each retry, with 20 % jitter. */
function backOffMs(retries: number, random: () => number): number {
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** retries, MAX_PAUSE_MS)
  return Math.round(pauseMs * (0.8 + 0.4 * random()))
}

async function pause(
  ms: number,
  { signal, startTimer }: Pick<ListenOptions, 'signal' | 'startTimer'>,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = startTimer(ms, end)
    signal.addEventListener('abort', end)
  })
}

function parseRetryAfter(header: string | null): number | undefined {
  return header !== null && /^\d{1,5}$/.test(header) ? Number(header) * 1000 : undefined
}

/** Remembers the latest handled events. */
function createMemory() {
  const ids = new Set<string>()
  return {
    isNew(id: string): boolean {
      if (ids.has(id)) return false
      ids.add(id)
      const [oldest] = ids
      if (ids.size > MAX_REMEMBERED_IDS && oldest !== undefined) ids.delete(oldest)
      return true
    },
  }
}
