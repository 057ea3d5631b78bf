/**
 * Streams the events of a source, or of all sources of an account, as server-sent events (HTML Living Standard, section 9.2). An event
 * is read only after the client has received the previous one, so a slow client costs no memory.
 */
import type { z } from '@hono/zod-openapi'
import { type Clock, isRecent } from '@strongroom/platform/clock'
import type { CursorScope } from '@strongroom/kit/cursor'
import type { Log } from '@strongroom/kit/log'
import type { Event } from '../events/item.ts'
import {
  BodyView,
  EventView,
  HeadersView,
  toBodyView,
  toEventView,
  toHeadersView,
} from '../events/view.ts'
import type { RotatingCursors } from '../http/cursors.ts'
import type { StartTimer } from '@strongroom/platform/timers'
import { createFollower, type ForwardListing, type StreamPosition } from './follower.ts'

/** Finds events that other processes store. */
export const POLL_INTERVAL_MS = 1_000
/** The pause between two polls, however many events arrive; each poll reads several. */
export const MIN_PAUSE_MS = 50
/** Keeps proxies from closing the connection, and shows clients that it is alive. */
export const HEARTBEAT_MS = 15_000
/** How soon a stream ends after its key is revoked. */
const ACCESS_CHECK_INTERVAL_MS = 5_000

/** Why the server ended a stream; after `stopping` a client reconnects. */
export type EndReason = 'unauthorized' | 'source_deleted' | 'stopping'

export interface StreamDeps {
  clock: Clock
  startTimer: StartTimer
  cursors: RotatingCursors
  log: Log
}

export interface StreamOptions {
  /** Of the ids: they are valid for one source or one account. */
  scope: CursorScope
  list: ForwardListing
  /** Calls back when this process has stored an event, until the returned function is called. */
  subscribe(call: () => void): () => void
  isWanted(event: Event): boolean
  /** Undefined if the event expired in the meantime. */
  toData(event: Event): Promise<object | undefined>
  /** Whether to send changes of events that were sent before. */
  sendsChanges: boolean
  /** The shortest and the longest time between two polls, in milliseconds. */
  pause(): { min: number; max: number }
  /** The last id that the client received; defaults to now. */
  lastEventId?: string | undefined
  /** The reason to end the stream; undefined while the client has access. */
  checkAccess(): Promise<EndReason | undefined>
  /** Aborted when the server stops. */
  stopping: AbortSignal
  onEnd(): void
}

/** Throws `request.invalid_cursor` for a last event id of another source or account. */
export async function openStream(
  deps: StreamDeps,
  options: StreamOptions,
): Promise<ReadableStream<Uint8Array>> {
  const { clock, startTimer, cursors, log } = deps
  const { scope, lastEventId, checkAccess, stopping, onEnd } = options
  const after = lastEventId === undefined ? undefined : toPosition(cursors.open(scope, lastEventId))
  const follower = await createFollower(options.list, after, deps)
  const alarm = createAlarm(startTimer)
  const unwatch = options.subscribe(alarm.ring)
  stopping.addEventListener('abort', alarm.ring)
  const disconnected = new AbortController()
  let checkedAt = clock.now()

  async function* frames(): AsyncGenerator<string> {
    let sentAt = clock.now()
    yield frame({ event: 'ready', id: currentId(), data: {} })
    while (!disconnected.signal.aborted) {
      for await (const { event, isNew } of follower.poll()) {
        if (stopping.aborted) break
        const reason = await reasonToEnd()
        if (reason) return void (yield end(reason))
        if (!options.isWanted(event) || (!isNew && !options.sendsChanges)) continue
        const id = currentId()
        const data = await options.toData(event)
        const text = data && frame({ event: isNew ? 'event' : 'change', id, data })
        sentAt = clock.now()
        if (text) yield text
        if (disconnected.signal.aborted) return
      }
      const reason = stopping.aborted ? 'stopping' : await reasonToEnd()
      if (reason) return void (yield end(reason))
      if (!isRecent(clock, sentAt, HEARTBEAT_MS)) {
        sentAt = clock.now()
        yield ':\n\n'
      }
      const { min, max } = options.pause()
      await alarm.wait(min, max)
    }
  }

  async function reasonToEnd(): Promise<EndReason | undefined> {
    if (isRecent(clock, checkedAt, ACCESS_CHECK_INTERVAL_MS)) return undefined
    checkedAt = clock.now()
    // Fails, and so ends the stream, if KMS no longer decrypts the key of the cursors.
    await cursors.refresh()
    return checkAccess()
  }

  function currentId(): string {
    const { receivedAt, eventId = '', since, given } = follower.position()
    return cursors.seal(scope, { receivedAt, eventId, since, given })
  }

  function leave(): void {
    if (disconnected.signal.aborted) return
    disconnected.abort()
    unwatch()
    stopping.removeEventListener('abort', alarm.ring)
    alarm.ring()
    onEnd()
  }

  const source = frames()
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await source.next()
          if (disconnected.signal.aborted) return
          if (!next.done) return controller.enqueue(encoder.encode(next.value))
          leave()
          controller.close()
        } catch (error) {
          if (disconnected.signal.aborted) return
          log.error('event stream failed, the client reconnects', { error })
          leave()
          controller.error(error)
        }
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
}

function end(reason: EndReason): string {
  return frame({ event: 'end', data: { reason } })
}

function frame({ event, id, data }: { event: string; id?: string; data: object }): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`
  return `event: ${event}\n${idLine}data: ${JSON.stringify(data)}\n\n`
}

/** Trusted, because only `currentId` seals positions of this source. */
function toPosition(item: object): StreamPosition {
  const { receivedAt, eventId, since, given } = item as StreamPosition
  return { receivedAt, eventId: eventId === '' ? undefined : eventId, since, given }
}

/** Waits until it rings or a maximum time has passed, but at least a minimum time. */
function createAlarm(startTimer: StartTimer) {
  let isRung = false
  let wake = () => {}
  return {
    ring(): void {
      isRung = true
      wake()
    },
    async wait(minMs: number, maxMs: number): Promise<void> {
      await new Promise<void>((resolve) => void startTimer(minMs, resolve))
      if (!isRung) {
        await new Promise<void>((resolve) => {
          const cancel = startTimer(maxMs - minMs, resolve)
          wake = () => {
            cancel()
            resolve()
          }
        })
      }
      isRung = false
      wake = () => {}
    },
  }
}

/** An event in a stream: everything that a client needs to forward it. */

export const LiveEventView = EventView.extend({
  headers: HeadersView,
  ...BodyView.shape,
}).openapi('FerryhookLiveEvent')

export function toLiveEventView(event: Event, body: Uint8Array): z.infer<typeof LiveEventView> {
  return { ...toEventView(event), headers: toHeadersView(event), ...toBodyView(body) }
}
