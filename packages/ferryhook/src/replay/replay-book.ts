/** Replays of whatever a filter finds in a stretch of time; a runner goes on with them. */
import type { Clock } from '@strongroom/kit/clock'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import type { Principal } from '../auth/principal.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import { ferryhookError } from '../errors.ts'
import type { EventBook } from '../events/event-book.ts'
import type { SearchedText } from '../events/search.ts'
import type { EventStatus } from '../items/event.ts'
import type { Replay } from '../items/replay.ts'
import { replayTargets } from './targets.ts'

export interface RangeReplayRequest extends SearchedText {
  sourceId: string
  /** Times of receipt in milliseconds, both included; up to now unless told. */
  from: number
  to?: number | undefined
  status?: EventStatus | undefined
  connectionIds?: readonly string[] | undefined
  /** Deliveries. */
  perSecond: number
}

export function createReplayBook(deps: {
  layer: Pick<DataLayer, 'replays' | 'connections' | 'rates'>
  eventBook: Pick<EventBook, 'sourceOf'>
  clock: Clock
  /** There is a replay to go on with. */
  onStart(): void
}) {
  const { layer, eventBook, clock } = deps
  const { replays } = layer

  return {
    async start(principal: Principal, request: RangeReplayRequest): Promise<Replay> {
      const { sourceId, status, header, body, from, perSecond } = request
      const { user, actor } = principal
      await eventBook.sourceOf(principal, sourceId)
      if (status === 'signature_failed') throw ferryhookError('unverified_replay')
      const targets = await replayTargets(layer.connections, sourceId, request.connectionIds)
      const decision = await layer.rates.take('replay_range', user.userId)
      if (!decision.admitted) throw rateLimited(decision)
      // What comes from now on is delivered anyway, and a replay must come to its end.
      const to = Math.min(request.to ?? clock.now(), clock.now())
      const asked = {
        userId: user.userId,
        sourceId,
        connectionIds: targets,
        from,
        to,
        ...(status !== undefined && { status }),
        ...(header !== undefined && { header }),
        ...(body !== undefined && { body }),
        perSecond,
        createdBy: actor,
      }
      const replay = await replays.create(asked, { by: { actor, action: 'replay.started' } })
      deps.onStart()
      return replay
    },

    list: ({ user }: Principal): Promise<Replay[]> => replays.listByUser(user.userId),

    async get({ user }: Principal, replayId: string): Promise<Replay> {
      const replay = await replays.get(user.userId, replayId)
      if (!replay) throw ferryhookError('replay_not_found')
      return replay
    },

    /** What was replayed until then stays so. */
    async cancel({ user, actor }: Principal, replayId: string): Promise<Replay> {
      const by = { actor, action: 'replay.cancelled' } as const
      return replays.cancel(user.userId, replayId, { by }).catch((error: unknown) => {
        if (!(error instanceof Refused)) throw error
        throw ferryhookError(error.reason === 'not_found' ? 'replay_not_found' : 'replay_ended')
      })
    },
  }
}

export type ReplayBook = ReturnType<typeof createReplayBook>
