/**
 * Follows the events of a source over one connection after the other. What the server sent last is
 * where it continues after a break, and an event is not handled twice.
 */
import type { StartTimer } from '@strongroom/platform/timers'
import type { ApiError } from '@strongroom/kit/errors'
import { isNotFound, serviceMissing, reasonOf, toError, serverUnusable } from '../api-client.ts'
import { Failure } from '@strongroom/kit/errors'
import { type Frame, readFrames } from './listen-frames.ts'
import type { LiveEvent } from './listen-forward.ts'

export interface ListenOptions {
  server: string
  sourceId: string
  key: string
  /** Ends it. */
  signal: AbortSignal
  startTimer: StartTimer
  random: () => number
  /** One at a time, in the order in which they came. */
  onEvent(event: LiveEvent): Promise<void>
  /** Events come from now on; `again` if that was so before. */
  onReady(given: { again: boolean }): void
  onBreak(given: { reason: string; retryInMs: number }): void
  /** The server no longer knows the position: events received since the break are not sent. */
  onGap(): void
}

/** Longer than the server ever says nothing. */
const SILENCE_MS = 45_000
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000
/** More than the server may send again after a break. */
const MAX_REMEMBERED_IDS = 100_000

/** The connection broke, or the server cannot serve just now: it is worth another try. */
class Broken extends Error {
  readonly retryAfterMs: number | undefined

  constructor(reason: string, retryAfterMs?: number) {
    super(reason)
    this.retryAfterMs = retryAfterMs
  }
}

/** Resolves when the signal fires; throws what trying again would not change. */
export async function listen(options: ListenOptions): Promise<void> {
  const { server, sourceId, key, signal, startTimer } = options
  const handled = createMemory()
  /** Where Ferryhook is: below its name, or at the root of a server that runs it alone. */
  let at = '/ferryhook'
  let lastEventId: string | undefined
  let wasReady = false
  let tries = 0

  async function connect(ended: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const answer = await fetch(`${server}${at}/v1/sources/${sourceId}/stream`, {
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${key}`,
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
      // A redirect would send the key to another address.
      redirect: 'error',
      signal: ended,
    }).catch((error: unknown) => {
      throw new Broken(reasonOf(error))
    })
    const type = answer.headers.get('content-type') ?? ''
    if (answer.ok && answer.body && type.startsWith('text/event-stream')) return answer.body
    const content: unknown = await answer.json().catch(() => undefined)
    const refused = toError(server, answer.status, content)
    if (isNotFound(refused)) {
      if (at === '') throw serviceMissing(server, 'ferryhook')
      at = ''
      return connect(ended)
    }
    const isPassing = answer.status === 429 || answer.status >= 500
    if (!isPassing) throw refused
    throw new Broken(`status ${answer.status}`, secondsIn(answer.headers.get('retry-after')))
  }

  /** Until the connection ends; always by throwing. */
  async function follow(): Promise<never> {
    const silence = new AbortController()
    let cancel = () => {}
    const heard = () => {
      cancel()
      cancel = startTimer(SILENCE_MS, () => silence.abort(new Broken('nothing heard')))
    }
    heard()
    try {
      const body = await connect(AbortSignal.any([signal, silence.signal]))
      for await (const frame of readFrames(body, heard)) {
        // What takes long here is not the server's silence.
        cancel()
        await handle(frame)
        heard()
      }
      throw new Broken('the server closed the connection')
    } catch (error) {
      throw asBroken(silence.signal.aborted ? silence.signal.reason : error)
    } finally {
      cancel()
    }
  }

  async function handle({ event, id, data }: Frame): Promise<void> {
    const content = JSON.parse(data) as LiveEvent & { reason?: string }
    if (event === 'ready') {
      tries = 0
      options.onReady({ again: wasReady })
      wasReady = true
    }
    if (event === 'end') throw ending(server, content.reason)
    if (event === 'event' && handled.isNew(content.id)) await options.onEvent(content)
    lastEventId = id ?? lastEventId
  }

  while (!signal.aborted) {
    try {
      await follow()
    } catch (error) {
      if (signal.aborted) return
      if (isGap(error) && lastEventId !== undefined) {
        lastEventId = undefined
        options.onGap()
        continue
      }
      if (!(error instanceof Broken)) throw error
      // Whoever was never connected most likely typed a wrong address.
      if (!wasReady) throw unreachable(server, error)
      const pauseMs = error.retryAfterMs ?? pauseBefore(tries++, options.random)
      options.onBreak({ reason: error.message, retryInMs: pauseMs })
      await pause(pauseMs, options)
    }
  }
}

function ending(server: string, reason: string | undefined): Error {
  if (reason === 'unauthorized') {
    return serverUnusable(`${server} no longer accepts the API key: use another one`)
  }
  if (reason === 'source_deleted') return serverUnusable('The source was deleted')
  return new Broken(reason === 'stopping' ? 'the server stops' : 'the server ended it')
}

function unreachable(server: string, { message }: Broken): Failure {
  return serverUnusable(
    `Cannot listen at ${server} (${message}): check that it runs and that the address is right`,
  )
}

/** Whatever is no decision of the server's is a matter of the connection. */
function asBroken(error: unknown): unknown {
  const isDecided = error instanceof Failure || (error as Error).name === 'ApiError'
  if (isDecided || error instanceof Broken) return error
  return new Broken(reasonOf(error))
}

function isGap(error: unknown): boolean {
  return (error as ApiError).code === 'request.invalid_cursor'
}

/** One second and twice as long each time, a fifth more or less. */
function pauseBefore(tries: number, random: () => number): number {
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS)
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

function secondsIn(header: string | null): number | undefined {
  return header !== null && /^\d{1,5}$/.test(header) ? Number(header) * 1000 : undefined
}

/** Which events were handled, the latest of them. */
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
