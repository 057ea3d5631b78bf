/**
 * Replays of single events, and of some at once. What is replayed goes through filter, transform and
 * signing as it did the first time, in a new run that leaves the history of those before it alone.
 */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { ApiError } from '@strongroom/kit/errors'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import { newId } from '@strongroom/kit/ids'
import type { Notices } from '../accounts/notices.ts'
import { type Principal, requirePermission } from '../auth/principal.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import { ferryhookError } from '../errors.ts'
import type { EventBook } from '../events/event-book.ts'
import type { AuditAction } from '../items/account-trail.ts'
import { isOpen } from '../items/delivery-state.ts'
import type { Delivery } from '../items/delivery.ts'
import { type Event, isUnverified } from '../items/event.ts'
import { replayTargets } from './targets.ts'

export interface ReplayRequest {
  connectionIds?: readonly string[] | undefined
  /** For an event that failed verification: its owner vouches for it. */
  acceptUnverified?: boolean
}

export type ReplayResult =
  | { eventId: string; deliveries: Delivery[] }
  | { eventId: string; error: ApiError }

/** What is replayed together. Its entry in the audit log goes with the first delivery that begins. */
interface Begun {
  replayId: string
  /** Empty as soon as it is written. */
  entry: TransactWriteItem[]
}

/** Each is some transactions. */
const EVENTS_AT_ONCE = 5

export function createReplayDesk(deps: {
  layer: Pick<DataLayer, 'deliveries' | 'connections' | 'rates' | 'stats' | 'audit'>
  eventBook: Pick<EventBook, 'get'>
  notices: Pick<Notices, 'workDue'>
}) {
  const { layer, eventBook, notices } = deps

  async function replay(
    event: Event,
    { replayId, entry }: Begun,
    { connectionIds, acceptUnverified = false }: ReplayRequest,
  ): Promise<Delivery[]> {
    const { eventId, sourceId } = event
    if (isUnverified(event) && !acceptUnverified) throw ferryhookError('unverified_event')
    const targets = await replayTargets(layer.connections, sourceId, connectionIds)
    const before = await layer.deliveries.listByEvent(eventId)
    const open = before.filter(
      ({ connectionId, state }) => targets.includes(connectionId) && isOpen(state),
    )
    if (open.length > 0) throw openRuns(open.map(({ connectionId }) => connectionId))
    await layer.stats.touch(event)
    const begun: Delivery[] = []
    for (const connectionId of targets) {
      const options = { replayId, acceptUnverified, also: entry }
      begun.push(
        await layer.deliveries
          .replay(eventId, connectionId, options)
          .catch((error: unknown) => inOurWords(error, connectionId)),
      )
      entry.length = 0
    }
    return begun
  }

  function begin({ user, actor }: Principal, action: AuditAction, target?: string): Begun {
    const replayId = newId('rpl')
    const by = { actor, action, target: target ?? replayId }
    return { replayId, entry: layer.audit.parts(by, { userId: user.userId }) }
  }

  async function count({ user }: Principal): Promise<void> {
    const decision = await layer.rates.take('replay', user.userId)
    if (!decision.admitted) throw rateLimited(decision)
  }

  return {
    /** Refused as a whole if any of the connections still has a run under way. */
    async one(
      principal: Principal,
      eventId: string,
      request: ReplayRequest,
    ): Promise<{ replayId: string; deliveries: Delivery[] }> {
      await count(principal)
      const event = await eventBook.get(principal, eventId)
      const isForged = isUnverified(event)
      if (isForged && request.acceptUnverified) requirePermission(principal, 'admin')
      const action = isForged ? 'event.replayed_unverified' : 'event.replayed'
      const begun = begin(principal, action, eventId)
      const deliveries = await replay(event, begun, request)
      notices.workDue()
      return { replayId: begun.replayId, deliveries }
    },

    /** Each for itself; never one that failed verification. */
    async many(
      principal: Principal,
      eventIds: readonly string[],
      { connectionIds }: Pick<ReplayRequest, 'connectionIds'>,
    ): Promise<{ replayId: string; results: ReplayResult[] }> {
      await count(principal)
      const begun = begin(principal, 'event.replayed')
      const { replayId } = begun
      const wanted = [...new Set(eventIds)]
      const results: ReplayResult[] = []
      const replayed = async (eventId: string): Promise<ReplayResult> => {
        try {
          const event = await eventBook.get(principal, eventId)
          return { eventId, deliveries: await replay(event, begun, { connectionIds }) }
        } catch (error) {
          if (error instanceof ApiError) return { eventId, error }
          throw error
        }
      }
      while (results.length < wanted.length) {
        // One by one until the entry is written: transactions that put one item at once conflict.
        const most = begun.entry.length > 0 ? 1 : EVENTS_AT_ONCE
        const some = wanted.slice(results.length, results.length + most)
        results.push(...(await Promise.all(some.map(replayed))))
      }
      notices.workDue()
      return { replayId, results }
    },
  }
}

export type ReplayDesk = ReturnType<typeof createReplayDesk>

function inOurWords(error: unknown, connectionId: string): never {
  if (!(error instanceof Refused)) throw error
  if (error.reason === 'run_open') throw openRuns([connectionId])
  if (error.reason === 'unverified') throw ferryhookError('unverified_event')
  throw error.reason === 'not_found' ? ferryhookError('event_not_found') : error
}

function openRuns(connectionIds: string[]): ApiError {
  return ferryhookError('run_open', { data: { connectionIds } })
}
