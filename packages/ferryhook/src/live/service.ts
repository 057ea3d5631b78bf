/** Opens event streams of a user's sources, limits their number, and ends them. */
import { setMaxListeners } from 'node:events'
import type { Log } from '@strongroom/kit/log'
import type { Clock } from '@strongroom/platform/clock'
import type { Authenticate, Principal } from '../accounts/authentication.ts'
import { ferryhookError } from '../errors.ts'
import type { RotatingCursors } from '../http/cursors.ts'
import type { Stores } from '../stores.ts'
import type { StartTimer } from '@strongroom/platform/timers'
import { openStream } from './stream.ts'

/** Limited, because each stream reads the store every second. */
const MAX_STREAMS_PER_USER = 20
const MAX_STREAMS = 1_000

export type LiveService = ReturnType<typeof createLiveService>

export function createLiveService(deps: {
  stores: Pick<Stores, 'events' | 'sources'>
  authenticate: Authenticate
  clock: Clock
  startTimer: StartTimer
  cursors: RotatingCursors
  log: Log
}) {
  const { stores, authenticate } = deps
  const subscriptions = createSubscriptions()
  const stop = new AbortController()
  setMaxListeners(MAX_STREAMS, stop.signal)
  const open = new Map<string, number>()

  function count(userId: string, change: 1 | -1): void {
    const now = (open.get(userId) ?? 0) + change
    if (now > 0) open.set(userId, now)
    else open.delete(userId)
  }

  function requireCapacity(userId: string): void {
    const total = [...open.values()].reduce((sum, each) => sum + each, 0)
    if ((open.get(userId) ?? 0) < MAX_STREAMS_PER_USER && total < MAX_STREAMS) return
    throw ferryhookError('too_many_streams', { headers: { 'retry-after': '60' } })
  }

  return {
    /** To call when this process has stored an event. */
    notify: subscriptions.notify,

    /** `token` is checked again periodically, so that revoking it ends the stream. */
    async open(
      { user: { userId } }: Principal,
      { sourceId, token, lastEventId }: { sourceId: string; token: string; lastEventId?: string },
    ): Promise<ReadableStream<Uint8Array>> {
      const source = await stores.sources.getOwned(sourceId, userId)
      if (!source) throw ferryhookError('source_not_found')
      requireCapacity(userId)
      count(userId, 1)
      const onEnd = () => count(userId, -1)
      try {
        return await openStream(
          { ...deps, events: stores.events, subscriptions },
          {
            sourceId,
            lastEventId,
            async checkAccess() {
              if ((await authenticate(token))?.user.userId !== userId) return 'unauthorized'
              const current = await stores.sources.getOwned(sourceId, userId)
              return current ? undefined : 'source_deleted'
            },
            stopping: stop.signal,
            onEnd,
          },
        )
      } catch (error) {
        onEnd()
        throw error
      }
    },

    /** Ends all streams with a reason that tells clients to reconnect. */
    stop: () => stop.abort(),
  }
}

/** Notifies the streams of a source that this process has stored an event. */
export interface Subscriptions {
  notify(sourceId: string): void
  /** Calls back for each event, until the returned function is called. */
  subscribe(sourceId: string, call: () => void): () => void
}

export function createSubscriptions(): Subscriptions {
  const subscribers = new Map<string, Set<() => void>>()
  return {
    notify(sourceId) {
      for (const call of subscribers.get(sourceId) ?? []) call()
    },
    subscribe(sourceId, call) {
      const calls = subscribers.get(sourceId) ?? new Set()
      subscribers.set(sourceId, calls.add(call))
      return () => {
        calls.delete(call)
        if (calls.size === 0 && subscribers.get(sourceId) === calls) subscribers.delete(sourceId)
      }
    },
  }
}
