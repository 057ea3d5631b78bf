/**
 * Runs the replay jobs that are due, one step at a time: selects some events and stores the
 * selection, replays them, and stores the results together with the time of the next step. Any number
 * of runners share the work. A delivery records its replay, so repeating a step has no effect.
 */
import type { Clock } from '@strongroom/platform/clock'
import { newId } from '@strongroom/kit/ids'
import type { Log } from '@strongroom/kit/log'
import type { DeliveryId } from '../deliveries/actions.ts'
import type { DeliveryState } from '../deliveries/state.ts'
import { hasEventType } from '../events/event-type.ts'
import { type Event, type EventStatus, isUnverified } from '../events/item.ts'
import { createTextSearch } from '../events/search.ts'
import type { EventPosition } from '../events/store.ts'
import type { Stores } from '../stores.ts'
import type { StartTimer } from '@strongroom/platform/timers'
import { MAX_STEP_EVENTS, type Replay, type ReplayStep, type ReplayTask } from './item.ts'

const POLL_MS = 1_000
/** A step takes about a second; after the lease another runner continues it. */
const LEASE_MS = 90_000
/** Each event takes several transactions. */
const EVENT_CONCURRENCY = 5

/** `replayed` and `runOpen` are of one delivery, `gone` of the whole event. */
type ReplayOutcome = 'replayed' | 'runOpen' | 'gone'

/** Statuses that follow from some deliveries of an event, while others may have succeeded. */
const unfinishedStates: { readonly [Status in EventStatus]?: DeliveryState } = {
  failed: 'failed',
  retrying: 'retrying',
  held: 'held',
  processing: 'runnable',
}

export interface ReplayRunner {
  start(): void
  /** Polls immediately, if the runner is started. */
  wake(): void
  /** Runs one step of each job that is due. */
  runOnce(): Promise<void>
  /** Resolves when the running steps are finished. */
  close(): Promise<void>
}

export function createReplayRunner(deps: {
  stores: Pick<
    Stores,
    'replays' | 'events' | 'connections' | 'deliveries' | 'deliveryActions' | 'statistics'
  >
  clock: Clock
  startTimer: StartTimer
  log: Log
  /** Called when deliveries are due. */
  onReplayed(): void
}): ReplayRunner {
  const { stores, clock, startTimer, log } = deps
  const { replays } = stores
  let running: Promise<void> | undefined
  let isStarted = false
  let stopPolling = () => {}

  async function runStep(task: ReplayTask): Promise<void> {
    const startedAt = clock.now()
    const leased = await replays.claim(task, startedAt + LEASE_MS)
    if (!leased) return
    const replay = await loadWithStep(leased)
    if (!replay?.step) return replays.completeTask(leased)
    const connectionIds = await existingConnections(replay)
    if (connectionIds.length === 0) {
      await replays.cancel(replay.userId, replay.replayId)
      return replays.completeTask(leased)
    }
    const results = await replayEvents({ ...replay, connectionIds }, replay.step)
    if (results.replayed > 0) deps.onReplayed()
    const tookMs = (results.replayed / replay.perSecond) * 1000
    await replays.finishStep(replay, leased, { results, nextAt: startedAt + Math.ceil(tookMs) })
  }

  /** The job with its unfinished step, or with a new one; undefined if it is not running. */
  async function loadWithStep({ userId, replayId }: ReplayTask): Promise<Replay | undefined> {
    for (;;) {
      const replay = await replays.get(userId, replayId)
      if (replay?.state !== 'running') return undefined
      if (replay.step) return replay
      const started = await replays.startStep(replay, await selectStep(replay, stores.events))
      // Otherwise it was cancelled, or a runner without a lease started a step: read again.
      if (started) return started
    }
  }

  /** Without deleted connections, to which every delivery would fail. */
  async function existingConnections({ sourceId, connectionIds }: Replay): Promise<string[]> {
    const existing = await stores.connections.listBySource(sourceId)
    return connectionIds.filter((id) => existing.some(({ connectionId }) => connectionId === id))
  }

  async function replayEvents(replay: Replay, { events }: ReplayStep) {
    const results = { replayed: 0, runOpen: 0, gone: 0 }
    for (let from = 0; from < events.length; from += EVENT_CONCURRENCY) {
      const batch = events.slice(from, from + EVENT_CONCURRENCY)
      const outcomes = await Promise.all(batch.map((event) => replayEvent(replay, event)))
      for (const outcome of outcomes.flat()) results[outcome] += 1
    }
    return results
  }

  /** One connection at a time, because each write changes the event. */
  async function replayEvent(
    replay: Replay,
    { eventId, receivedAt }: ReplayStep['events'][number],
  ): Promise<ReplayOutcome[]> {
    const { sourceId, userId } = replay
    const outcomes: ReplayOutcome[] = []
    await stores.statistics.scheduleRecount({ sourceId, userId, receivedAt })
    const targets = await selectTargets(replay, eventId)
    if (targets.length === 0) return (await stores.events.getById(eventId)) ? [] : ['gone']
    for (const connectionId of targets) {
      const outcome = await replayDelivery(replay, { eventId, connectionId })
      // The event expired or was deleted after it was selected.
      if (outcome === 'gone') return ['gone']
      outcomes.push(outcome)
    }
    return outcomes
  }

  /** Healthy destinations must not receive an event again because another one failed. */
  async function selectTargets(replay: Replay, eventId: string): Promise<readonly string[]> {
    const { status, allConnections, connectionIds, replayId } = replay
    const state = status && unfinishedStates[status]
    if (state === undefined || allConnections) return connectionIds
    const deliveries = await stores.deliveries.listByEvent(eventId)
    return connectionIds.filter((id) =>
      deliveries.some(
        (delivery) =>
          delivery.connectionId === id &&
          // Replayed by this job before a crash, which has changed its state.
          (delivery.state === state || delivery.replayId === replayId),
      ),
    )
  }

  async function replayDelivery(
    { replayId, status }: Replay,
    { eventId, connectionId }: DeliveryId,
  ): Promise<ReplayOutcome> {
    const { kind } = await stores.deliveries.replay(eventId, connectionId, { replayId })
    if (kind === 'not_found') return 'gone'
    if (kind === 'unverified') throw new TypeError('The step selected an unverified event')
    if (kind === 'started') return 'replayed'
    // A retrying delivery has a run, so its next attempt is made now instead.
    if (status !== 'retrying') return 'runOpen'
    const { kind: attempted } = await stores.deliveryActions.attemptNow({ eventId, connectionId })
    return attempted === 'changed' ? 'replayed' : 'runOpen'
  }

  async function runDue(): Promise<void> {
    const due = await replays.listDue()
    await Promise.all(
      due.map((task) =>
        runStep(task).catch((error: unknown) => {
          // The task is due again when its lease expires.
          log.error('replay step failed, retrying', { error })
        }),
      ),
    )
  }

  /** Never twice in parallel, because a job that is running is not due. */
  function run(): Promise<void> {
    running ??= runDue().finally(() => (running = undefined))
    return running
  }

  function pollNow(): void {
    if (!isStarted) return
    run().catch((error: unknown) => {
      log.error('reading replays failed, retrying', { error })
    })
  }

  function poll(): void {
    isStarted = true
    stopPolling = startTimer(POLL_MS, poll)
    pollNow()
  }

  return {
    start: poll,
    wake: pollNow,
    runOnce: run,
    async close() {
      isStarted = false
      stopPolling()
      await running?.catch(() => {})
    },
  }
}

/** Bounds a step whose filter matches almost nothing. */
const MAX_EXAMINED_EVENTS = 1_000
const READ_BATCH = 100

/** Selects events for about a second, so that a cancellation takes effect soon. */
export async function selectStep(
  replay: Replay,
  events: Pick<Stores['events'], 'listForward' | 'getBody'>,
): Promise<ReplayStep> {
  const { sourceId, to, connectionIds, perSecond } = replay
  const max = Math.max(1, Math.floor(Math.min(perSecond, MAX_STEP_EVENTS) / connectionIds.length))
  const search = createTextSearch(replay, events)
  const selected: ReplayStep['events'] = []
  let last: Pick<Event, 'receivedAt' | 'eventId'> | undefined
  let [examined, unverified] = [0, 0]
  let from: EventPosition | undefined = replay.at ?? { receivedAt: replay.from }
  const isEnough = () =>
    selected.length === max || examined >= MAX_EXAMINED_EVENTS || (search?.isSpent() ?? false)

  while (from && !isEnough()) {
    const page = await events.listForward(sourceId, from, { to, limit: READ_BATCH })
    from = page.next
    for (const event of page.items) {
      last = { receivedAt: event.receivedAt, eventId: event.eventId }
      examined += 1
      const isWanted = await matches(event)
      if (isWanted && isUnverified(event)) unverified += 1
      else if (isWanted) selected.push(last)
      if (!isEnough()) continue
      if (event !== page.items.at(-1)) from = last
      break
    }
  }

  async function matches(event: Event): Promise<boolean> {
    if (replay.status !== undefined && event.status !== replay.status) return false
    if (replay.type !== undefined && !hasEventType(event, replay.type)) return false
    return !search || search.matches(event)
  }

  return {
    stepId: newId('stp'),
    events: selected,
    ...(last && { upTo: last }),
    examined,
    unverified,
    isLast: from === undefined,
  }
}
