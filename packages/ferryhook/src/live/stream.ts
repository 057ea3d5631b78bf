/**
 * Server-sent events (HTML Living Standard, section 9.2) of the events of a source. Nothing is read
 * before the client has taken what came before, so that a slow one costs no memory.
 */
import { type Clock, isRecent } from '@strongroom/kit/clock'
import type { Cursors } from '@strongroom/kit/cursor'
import type { Log } from '@strongroom/kit/log'
import type { DataLayer } from '../db/data-layer.ts'
import type { Timers } from '../delivery/timers.ts'
import type { Event } from '../items/event.ts'
import { createFollower, type FollowPosition } from './follower.ts'
import type { LiveHub } from './hub.ts'
import { viewLiveEvent } from './live-view.ts'

/** For events that other processes store. */
const POLL_MS = 1_000
/** Between two looks, however many events come: each looks at more than one. */
const REST_MS = 50
/** Proxies give up on what says nothing; clients know by it that the connection lives. */
export const HEARTBEAT_MS = 15_000
/** So long after a key was revoked, nothing more is sent for it. */
const CHECK_MS = 5_000

/** Why a stream was ended by us; after `stopping` a client comes back. */
type EndReason = 'unauthorized' | 'source_deleted' | 'stopping'

export interface StreamDeps {
  events: Pick<DataLayer['events'], 'listFrom' | 'getBody'>
  clock: Clock
  timers: Timers
  cursors: Cursors
  hub: Pick<LiveHub, 'watch'>
  log: Log
}

export interface StreamOptions {
  sourceId: string
  /** What the client has seen last; from now on unless given. */
  lastEventId?: string | undefined
  /** Undefined while whoever asked may go on. */
  endedBecause(): Promise<'unauthorized' | 'source_deleted' | undefined>
  /** Fires when the server stops. */
  stopping: AbortSignal
  onEnd(): void
}

/** Throws `request.invalid_cursor` for a last event id that is not of this source. */
export async function openStream(
  deps: StreamDeps,
  { sourceId, lastEventId, endedBecause, stopping, onEnd }: StreamOptions,
): Promise<ReadableStream<Uint8Array>> {
  const { events, clock, timers, cursors, hub, log } = deps
  const scope = ['ferryhook.stream', sourceId] as const
  const after = lastEventId === undefined ? undefined : positionIn(cursors.open(scope, lastEventId))
  const follower = await createFollower(sourceId, after, deps)
  const alarm = createAlarm(timers)
  const unwatch = hub.watch(sourceId, alarm.ring)
  stopping.addEventListener('abort', alarm.ring)
  const left = new AbortController()
  let checkedAt = clock.now()

  async function* frames(): AsyncGenerator<string> {
    let saidAt = clock.now()
    yield frame({ event: 'ready', id: idNow(), data: {} })
    while (!left.signal.aborted) {
      for await (const event of follower.look()) {
        if (stopping.aborted) break
        const reason = await reasonToEnd()
        if (reason) return void (yield end(reason))
        const id = idNow()
        const said = await frameOf(event, id)
        saidAt = clock.now()
        if (said) yield said
        if (left.signal.aborted) return
      }
      const reason = stopping.aborted ? 'stopping' : await reasonToEnd()
      if (reason) return void (yield end(reason))
      if (!isRecent(clock, saidAt, HEARTBEAT_MS)) {
        saidAt = clock.now()
        yield ':\n\n'
      }
      await alarm.wait(REST_MS, POLL_MS)
    }
  }

  async function frameOf(event: Event, id: string): Promise<string | undefined> {
    const body = await events.getBody(event)
    // Expired between two reads.
    return body ? frame({ event: 'event', id, data: viewLiveEvent(event, body) }) : undefined
  }

  async function reasonToEnd(): Promise<EndReason | undefined> {
    if (isRecent(clock, checkedAt, CHECK_MS)) return undefined
    checkedAt = clock.now()
    return endedBecause()
  }

  function idNow(): string {
    const { receivedAt, eventId = '', since, given } = follower.position()
    return cursors.seal(scope, { receivedAt, eventId, since, given })
  }

  function leave(): void {
    if (left.signal.aborted) return
    left.abort()
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
          if (left.signal.aborted) return
          if (!next.done) return controller.enqueue(encoder.encode(next.value))
          leave()
          controller.close()
        } catch (error) {
          if (left.signal.aborted) return
          log.error('A stream of events broke off: its client comes back', { error })
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

/** Only what was sealed for this source is opened, so it is what `idNow` has put together. */
function positionIn(item: object): FollowPosition {
  const { receivedAt, eventId, since, given } = item as FollowPosition
  return { receivedAt, eventId: eventId === '' ? undefined : eventId, since, given }
}

/** Something to wait for: until it rings, or for a time, but for a moment at least. */
function createAlarm(timers: Timers) {
  let isRung = false
  let wake = () => {}
  return {
    ring(): void {
      isRung = true
      wake()
    },
    async wait(leastMs: number, mostMs: number): Promise<void> {
      await new Promise<void>((resolve) => void timers.after(leastMs, resolve))
      if (!isRung) {
        await new Promise<void>((resolve) => {
          const cancel = timers.after(mostMs - leastMs, resolve)
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
