/** Opens event streams of a user's sources, limits their number, and ends them. */
import { setMaxListeners } from 'node:events'
import type { Log } from '@strongroom/kit/log'
import type { Clock } from '@strongroom/platform/clock'
import type { Authenticate, Principal } from '../accounts/authentication.ts'
import { ferryhookError } from '../errors.ts'
import type { RotatingCursors } from '../http/cursors.ts'
import type { Stores } from '../stores.ts'
import type { StartTimer } from '@strongroom/platform/timers'
import { hasEventType } from '../events/event-type.ts'
import { toEventView } from '../events/view.ts'
import type { Source } from '../sources/item.ts'
import { createAccountListing } from './account-listing.ts'
import {
  MIN_PAUSE_MS,
  openStream,
  POLL_INTERVAL_MS,
  type StreamOptions,
  toLiveEventView,
} from './stream.ts'

/** Limited, because each stream reads the store every second. */
const MAX_STREAMS_PER_USER = 20
const MAX_STREAMS = 1_000
/** Of one account; plans have no more. Deleted ones receive nothing. */
const MAX_STREAMED_SOURCES = 200
/** Slows an account with many sources down: each poll reads all of them. */
const MIN_PAUSE_PER_SOURCE_MS = 5
const POLL_INTERVAL_PER_SOURCE_MS = 25

export type LiveService = ReturnType<typeof createLiveService>

export function createLiveService(deps: {
  stores: Pick<Stores, 'events' | 'sources'>
  authenticate: Authenticate
  clock: Clock
  startTimer: StartTimer
  cursors: RotatingCursors
  log: Log
  subscriptions?: Subscriptions
}) {
  const { stores, authenticate, subscriptions = createSubscriptions() } = deps
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

  /** Counts the stream while it is open. */
  async function openFor(
    userId: string,
    options: Omit<StreamOptions, 'stopping' | 'onEnd'>,
  ): Promise<ReadableStream<Uint8Array>> {
    requireCapacity(userId)
    count(userId, 1)
    const onEnd = () => count(userId, -1)
    try {
      return await openStream(deps, { ...options, stopping: stop.signal, onEnd })
    } catch (error) {
      onEnd()
      throw error
    }
  }

  return {
    /** To call when this process has stored an event. */
    notify: subscriptions.notify,

    /** `token` is checked again periodically, so that revoking it ends the stream. */
    async open(
      { user: { userId } }: Principal,
      {
        sourceId,
        type,
        token,
        lastEventId,
      }: { sourceId: string; type?: string | undefined; token: string; lastEventId?: string },
    ): Promise<ReadableStream<Uint8Array>> {
      const source = await stores.sources.getOwned(sourceId, userId)
      if (!source) throw ferryhookError('source_not_found')
      const { events } = stores
      return openFor(userId, {
        scope: ['ferryhook.stream', sourceId],
        list: (position, options) => events.listForward(sourceId, position, options),
        subscribe: (call) => subscriptions.subscribe(sourceId, call),
        isWanted: (event) => type === undefined || hasEventType(event, type),
        async toData(event) {
          const body = await events.getBody(event)
          return body ? toLiveEventView(event, body) : undefined
        },
        sendsChanges: false,
        pause: () => ({ min: MIN_PAUSE_MS, max: POLL_INTERVAL_MS }),
        lastEventId,
        async checkAccess() {
          if ((await authenticate(token))?.user.userId !== userId) return 'unauthorized'
          const current = await stores.sources.getOwned(sourceId, userId)
          return current ? undefined : 'source_deleted'
        },
      })
    },

    /** Without headers and bodies, with changes of recent events. */
    async openAccount(
      { user: { userId } }: Principal,
      { token, lastEventId }: { token: string; lastEventId?: string },
    ): Promise<ReadableStream<Uint8Array>> {
      let sources: readonly Source[] = []
      let subscriber: (() => void) | undefined
      let hasLeft = false
      const unsubscribe = new Map<string, () => void>()

      async function refreshSources(): Promise<void> {
        const all = await stores.sources.listByUser(userId)
        sources = all.slice(0, MAX_STREAMED_SOURCES)
        // The client may disconnect during the read, after which nobody would unsubscribe.
        if (hasLeft) return
        const call = () => subscriber?.()
        for (const { sourceId } of sources) {
          if (!unsubscribe.has(sourceId)) {
            unsubscribe.set(sourceId, subscriptions.subscribe(sourceId, call))
          }
        }
      }

      function leaveAll(): void {
        hasLeft = true
        for (const leave of unsubscribe.values()) leave()
        unsubscribe.clear()
      }

      await refreshSources()
      try {
        return await openFor(userId, {
          scope: ['ferryhook.account-stream', userId],
          list: createAccountListing(stores.events, () => sources.map(({ sourceId }) => sourceId)),
          subscribe(call) {
            subscriber = call
            return leaveAll
          },
          isWanted: () => true,
          async toData(event) {
            const { name = '' } = sources.find(({ sourceId }) => sourceId === event.sourceId) ?? {}
            return { ...toEventView(event), sourceName: name }
          },
          sendsChanges: true,
          pause: () => ({
            min: Math.max(MIN_PAUSE_MS, sources.length * MIN_PAUSE_PER_SOURCE_MS),
            max: Math.max(POLL_INTERVAL_MS, sources.length * POLL_INTERVAL_PER_SOURCE_MS),
          }),
          lastEventId,
          async checkAccess() {
            if ((await authenticate(token))?.user.userId !== userId) return 'unauthorized'
            await refreshSources()
            return undefined
          },
        })
      } catch (error) {
        leaveAll()
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
