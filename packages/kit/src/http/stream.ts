/** Responses without an end of their own, such as server-sent events. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { startBackgroundTimer, type StartTimer } from '@strongroom/platform/timers'

export interface StreamOptions {
  /** Without a chunk for this long, the stream ends. */
  idleMs?: number
  startTimer?: StartTimer
}

const DEFAULT_IDLE_MS = 60_000

/**
 * The body of a stream that ends when its client leaves, and when it is idle: when there is nothing to
 * send, or the client does not read what was sent. Streams have no deadline once they have begun.
 */
export function streamBody(
  c: { env?: unknown },
  source: ReadableStream<Uint8Array>,
  { idleMs = DEFAULT_IDLE_MS, startTimer = startBackgroundTimer }: StreamOptions = {},
): ReadableStream<Uint8Array> {
  const { incoming, outgoing } = (c.env ?? {}) as NodePlatform
  const reader = source.getReader()
  let stopTimer = () => {}
  let isEnded = false

  function stop(): void {
    isEnded = true
    stopTimer()
  }

  function restartTimer(controller: ReadableStreamDefaultController): void {
    stopTimer()
    stopTimer = startTimer(idleMs, () => {
      stop()
      controller.close()
      void reader.cancel()
      // The client does not read, so the end would wait behind what it has not read.
      if (outgoing?.writableNeedDrain) outgoing.destroy()
    })
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start: restartTimer,
      async pull(controller) {
        const { done, value } = await reader.read()
        if (isEnded) return
        if (done) {
          stop()
          return controller.close()
        }
        controller.enqueue(value)
        restartTimer(controller)
      },
      cancel(reason) {
        stop()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  if (incoming && outgoing) endWithClient(incoming, outgoing, body)
  return body
}

interface NodePlatform {
  incoming?: IncomingMessage
  outgoing?: ServerResponse
}

/**
 * A client that closed its side of the connection still gets its response, so a server would learn that
 * the reader of a stream has left only with its next write.
 */
function endWithClient(
  { socket }: IncomingMessage,
  outgoing: ServerResponse,
  body: ReadableStream,
): void {
  const leave = () => void outgoing.destroy()
  if (socket.readableEnded) leave()
  // Nothing would read the body, and so end it.
  if (outgoing.destroyed) return void body.cancel()
  socket.once('end', leave)
  outgoing.once('close', () => socket.off('end', leave))
}
