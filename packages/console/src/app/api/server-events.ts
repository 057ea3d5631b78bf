/** Follows a stream of server-sent events: reconnects by itself and continues after the last id. */
import { ApiFailure, hasCode } from './errors.ts'
import { send } from './request.ts'

export interface ServerEvent {
  /** Such as `event` or `change`; `ready` and `end` are handled here. */
  name: string
  data: unknown
}

export type StreamState = 'connecting' | 'open' | 'lost'

/** The server sends a comment at least every 15 seconds. */
const SILENCE_MS = 40_000
const RETRY_MS = [500, 1_000, 2_000, 5_000, 10_000]

/** Returns how to stop. */
export function followStream(
  path: string,
  callbacks: {
    onEvent: (event: ServerEvent) => void
    onState: (state: StreamState) => void
    /** The server has no such stream, and is not asked again. */
    onMissing: () => void
  },
): () => void {
  const stop = new AbortController()
  let lastId: string | undefined
  let failures = 0

  async function connect(): Promise<void> {
    const connection = new AbortController()
    const silence = { timer: undefined as ReturnType<typeof setTimeout> | undefined }
    const listen = () => {
      clearTimeout(silence.timer)
      silence.timer = setTimeout(() => connection.abort(), SILENCE_MS)
    }
    const signal = AbortSignal.any([stop.signal, connection.signal])
    try {
      const headers: Record<string, string> =
        lastId === undefined ? {} : { 'last-event-id': lastId }
      const response = await send('GET', path, { headers, signal })
      listen()
      for await (const frame of readFrames(response, listen)) {
        if (frame.id !== undefined) lastId = frame.id
        if (frame.name === 'end') return
        if (frame.name === 'ready') {
          failures = 0
          callbacks.onState('open')
        } else callbacks.onEvent({ name: frame.name, data: JSON.parse(frame.data) })
      }
    } catch (error) {
      if (hasCode(error, 'request.invalid_cursor')) lastId = undefined
      if (error instanceof ApiFailure && error.status === 404 && !stop.signal.aborted) {
        stop.abort()
        callbacks.onMissing()
      }
    } finally {
      clearTimeout(silence.timer)
      connection.abort()
    }
  }

  async function follow(): Promise<void> {
    while (!stop.signal.aborted) {
      callbacks.onState('connecting')
      await connect()
      if (stop.signal.aborted) return
      callbacks.onState('lost')
      await pause(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)] ?? 1_000, stop.signal)
    }
  }

  void follow()
  return () => stop.abort()
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })
}

interface Frame {
  name: string
  id: string | undefined
  data: string
}

async function* readFrames(response: Response, onBytes: () => void): AsyncGenerator<Frame> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const chunk = await reader?.read()
    if (!chunk || chunk.done) return
    onBytes()
    text += chunk.value
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) {
      const frame = parseFrame(part)
      if (frame) yield frame
    }
  }
}

function parseFrame(text: string): Frame | undefined {
  const fields = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^(\w+): ?(.*)$/s.exec(line) ?? []
    if (name !== '') fields.set(name, value)
  }
  const name = fields.get('event')
  if (name === undefined) return undefined
  return { name, id: fields.get('id'), data: fields.get('data') ?? 'null' }
}
