/**
 * Replays: single events, a list of events, and jobs that replay all events of a time range. A replay
 * filters, transforms and signs an event again, in a new run that leaves earlier runs untouched.
 */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { ApiError } from '@strongroom/kit/errors'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import { newId } from '@strongroom/kit/ids'
import type { Clock } from '@strongroom/platform/clock'
import type { AuditAction } from '../accounts/audit/item.ts'
import { type Principal, requirePermission } from '../accounts/authentication.ts'
import type { Delivery } from '../deliveries/item.ts'
import { isPending } from '../deliveries/state.ts'
import { ferryhookError } from '../errors.ts'
import { type Event, type EventStatus, isUnverified } from '../events/item.ts'
import type { TextQuery } from '../events/search.ts'
import type { EventService } from '../events/service.ts'
import type { LocalEvents } from '../local-events.ts'
import type { Stores } from '../stores.ts'
import type { Replay } from './item.ts'

export interface ReplayRequest {
  /** Defaults to all connections of the source. */
  connectionIds?: readonly string[] | undefined
  /** The owner trusts an event that failed verification. */
  acceptUnverified?: boolean
}

export type ReplayResult =
  | { eventId: string; deliveries: Delivery[] }
  | { eventId: string; error: ApiError }

export interface ReplayJobRequest extends TextQuery {
  sourceId: string
  /** Times of receipt in milliseconds, both included; `to` defaults to now. */
  from: number
  to?: number | undefined
  status?: EventStatus | undefined
  /** A type, or the beginning of types and an asterisk. */
  type?: string | undefined
  /** Also to connections whose deliveries do not have the state that the status selects. */
  allConnections?: boolean
  connectionIds?: readonly string[] | undefined
  /** Deliveries per second. */
  perSecond: number
}

/** Events that are replayed together. The first delivery writes their entry in the audit log. */
interface ReplayBatch {
  replayId: string
  /** Empty once it is written. */
  auditParts: TransactWriteItem[]
}

/** Each event takes several transactions. */
const EVENT_CONCURRENCY = 5

export type ReplayService = ReturnType<typeof createReplayService>

export function createReplayService(deps: {
  stores: Pick<
    Stores,
    'replays' | 'deliveries' | 'connections' | 'sources' | 'rateLimits' | 'statistics' | 'audit'
  >
  eventService: Pick<EventService, 'get' | 'getSource'>
  localEvents: Pick<LocalEvents, 'workDue'>
  clock: Clock
  /** Called when a job is ready for the runner. */
  onJobStarted(): void
}) {
  const { stores, eventService, localEvents, clock } = deps
  const { replays } = stores

  async function replay(
    event: Event,
    { replayId, auditParts }: ReplayBatch,
    { connectionIds, acceptUnverified = false }: ReplayRequest,
  ): Promise<Delivery[]> {
    const { eventId, sourceId } = event
    if (isUnverified(event) && !acceptUnverified) throw ferryhookError('unverified_event')
    const targets = await selectTargets(sourceId, connectionIds)
    const existing = await stores.deliveries.listByEvent(eventId)
    const pending = existing.filter(
      ({ connectionId, state }) => targets.includes(connectionId) && isPending(state),
    )
    if (pending.length > 0) throw pendingRuns(pending.map(({ connectionId }) => connectionId))
    await stores.statistics.scheduleRecount(event)
    const started: Delivery[] = []
    for (const connectionId of targets) {
      const options = { replayId, acceptUnverified, extraParts: auditParts }
      const result = await stores.deliveries.replay(eventId, connectionId, options)
      if (result.kind === 'run_open') throw pendingRuns([connectionId])
      if (result.kind !== 'started') {
        const isMissing = result.kind === 'not_found'
        throw ferryhookError(isMissing ? 'event_not_found' : 'unverified_event')
      }
      started.push(result.delivery)
      auditParts.length = 0
    }
    return started
  }

  /** The named connections, or all connections of the source. */
  async function selectTargets(
    sourceId: string,
    named: readonly string[] | undefined,
  ): Promise<string[]> {
    const connections = await stores.connections.listBySource(sourceId)
    const ids = connections.map(({ connectionId }) => connectionId)
    if (named === undefined) {
      if (ids.length === 0) throw ferryhookError('no_connections')
      return ids
    }
    const wanted = [...new Set(named)]
    if (!wanted.every((id) => ids.includes(id))) throw ferryhookError('connection_not_found')
    return wanted
  }

  function newBatch({ user, actor }: Principal, action: AuditAction, target?: string): ReplayBatch {
    const replayId = newId('rpl')
    const by = { actor, action, target: target ?? replayId }
    return { replayId, auditParts: stores.audit.parts(by, { userId: user.userId }) }
  }

  async function enforceRate({ user }: Principal, scope: 'replay' | 'replay_range'): Promise<void> {
    const decision = await stores.rateLimits.take(scope, user.userId)
    if (!decision.admitted) throw rateLimited(decision)
  }

  return {
    /** Rejected as a whole if one of the connections has a pending run. */
    async replayEvent(
      principal: Principal,
      eventId: string,
      request: ReplayRequest,
    ): Promise<{ replayId: string; deliveries: Delivery[] }> {
      await enforceRate(principal, 'replay')
      const event = await eventService.get(principal, eventId)
      const isForged = isUnverified(event)
      if (isForged && request.acceptUnverified) requirePermission(principal, 'admin')
      const action = isForged ? 'event.replayed_unverified' : 'event.replayed'
      const batch = newBatch(principal, action, eventId)
      const deliveries = await replay(event, batch, request)
      localEvents.workDue()
      return { replayId: batch.replayId, deliveries }
    },

    /** Each event succeeds or fails by itself; unverified events are never replayed. */
    async replayEvents(
      principal: Principal,
      eventIds: readonly string[],
      { connectionIds }: Pick<ReplayRequest, 'connectionIds'>,
    ): Promise<{ replayId: string; results: ReplayResult[] }> {
      await enforceRate(principal, 'replay')
      const batch = newBatch(principal, 'event.replayed')
      const ids = [...new Set(eventIds)]
      const results: ReplayResult[] = []
      const replayOne = async (eventId: string): Promise<ReplayResult> => {
        try {
          const event = await eventService.get(principal, eventId)
          return { eventId, deliveries: await replay(event, batch, { connectionIds }) }
        } catch (error) {
          if (error instanceof ApiError) return { eventId, error }
          throw error
        }
      }
      while (results.length < ids.length) {
        // One at a time until the audit entry is written: concurrent writes of it would conflict.
        const size = batch.auditParts.length > 0 ? 1 : EVENT_CONCURRENCY
        const next = ids.slice(results.length, results.length + size)
        results.push(...(await Promise.all(next.map(replayOne))))
      }
      localEvents.workDue()
      return { replayId: batch.replayId, results }
    },

    async startJob(principal: Principal, request: ReplayJobRequest): Promise<Replay> {
      const { sourceId, status, type, allConnections, header, body, from, perSecond } = request
      const { user, actor } = principal
      await eventService.getSource(principal, sourceId)
      if (status === 'signature_failed') throw ferryhookError('unverified_replay')
      const connectionIds = await selectTargets(sourceId, request.connectionIds)
      await enforceRate(principal, 'replay_range')
      // Later events are delivered anyway, and a job must finish.
      const to = Math.min(request.to ?? clock.now(), clock.now())
      const input = {
        userId: user.userId,
        sourceId,
        connectionIds,
        from,
        to,
        ...(status !== undefined && { status }),
        ...(type !== undefined && { type }),
        ...(allConnections && { allConnections }),
        ...(header !== undefined && { header }),
        ...(body !== undefined && { body }),
        perSecond,
        createdBy: actor,
      }
      const job = await replays.create(input, { by: { actor, action: 'replay.started' } })
      deps.onJobStarted()
      return job
    },

    listJobs: ({ user }: Principal): Promise<Replay[]> => replays.listByUser(user.userId),

    /** The names of the user's sources by their ids, including deleted sources. */
    async sourceNames({ user }: Principal): Promise<ReadonlyMap<string, string>> {
      const sources = await stores.sources.listByUser(user.userId, { includeDeleted: true })
      return new Map(sources.map(({ sourceId, name }) => [sourceId, name]))
    },

    async getJob({ user }: Principal, replayId: string): Promise<Replay> {
      const job = await replays.get(user.userId, replayId)
      if (!job) throw ferryhookError('replay_not_found')
      return job
    },

    /** Deliveries that the job has already started continue. */
    async cancelJob({ user, actor }: Principal, replayId: string): Promise<Replay> {
      const by = { actor, action: 'replay.cancelled' } as const
      const result = await replays.cancel(user.userId, replayId, { by })
      if (result.kind === 'cancelled') return result.replay
      throw ferryhookError(result.kind === 'not_found' ? 'replay_not_found' : 'replay_ended')
    },
  }
}

function pendingRuns(connectionIds: string[]): ApiError {
  return ferryhookError('run_open', { data: { connectionIds } })
}
