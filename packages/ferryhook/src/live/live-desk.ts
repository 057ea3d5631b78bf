/** Opens streams of a user's sources, not too many of them, and ends them. */
import { setMaxListeners } from 'node:events'
import type { Clock } from '@strongroom/kit/clock'
import type { Cursors } from '@strongroom/kit/cursor'
import type { Log } from '@strongroom/kit/log'
import type { Authenticate } from '../auth/authenticate.ts'
import type { Principal } from '../auth/principal.ts'
import type { DataLayer } from '../db/data-layer.ts'
import type { Timers } from '../delivery/timers.ts'
import { ferryhookError } from '../errors.ts'
import { createLiveHub } from './hub.ts'
import { openStream } from './stream.ts'

/** Each looks into the store once a second. */
const MOST_OF_USER = 20
const MOST_OF_ALL = 1_000

export type LiveDesk = ReturnType<typeof createLiveDesk>

export function createLiveDesk(deps: {
  layer: Pick<DataLayer, 'events' | 'sources'>
  authenticate: Authenticate
  clock: Clock
  timers: Timers
  cursors: Cursors
  log: Log
}) {
  const { layer, authenticate } = deps
  const hub = createLiveHub()
  const stop = new AbortController()
  setMaxListeners(MOST_OF_ALL, stop.signal)
  const open = new Map<string, number>()

  function count(userId: string, change: 1 | -1): void {
    const now = (open.get(userId) ?? 0) + change
    if (now > 0) open.set(userId, now)
    else open.delete(userId)
  }

  function requireRoom(userId: string): void {
    const all = [...open.values()].reduce((sum, each) => sum + each, 0)
    if ((open.get(userId) ?? 0) < MOST_OF_USER && all < MOST_OF_ALL) return
    throw ferryhookError('too_many_streams', { headers: { 'retry-after': '60' } })
  }

  return {
    /** An event was stored by this process. */
    received: hub.received,

    /** `token` is asked again now and then, so that a revoked one ends the stream. */
    async open(
      { user: { userId } }: Principal,
      { sourceId, token, lastEventId }: { sourceId: string; token: string; lastEventId?: string },
    ): Promise<ReadableStream<Uint8Array>> {
      const source = await layer.sources.getOwned(sourceId, userId)
      if (!source) throw ferryhookError('source_not_found')
      requireRoom(userId)
      count(userId, 1)
      const onEnd = () => count(userId, -1)
      try {
        return await openStream(
          { ...deps, events: layer.events, hub },
          {
            sourceId,
            lastEventId,
            async endedBecause() {
              if ((await authenticate(token))?.user.userId !== userId) return 'unauthorized'
              const stillThere = await layer.sources.getOwned(sourceId, userId)
              return stillThere ? undefined : 'source_deleted'
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

    /** Ends all streams; their clients know that they may come back. */
    stop: () => stop.abort(),
  }
}
