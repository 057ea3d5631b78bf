/** One attempt of a delivery: load the event, build the request, send it, write the outcome. */
import type { Log } from '@strongroom/kit/log'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import type { Clock } from '@strongroom/platform/clock'
import type { Alerts } from '../alerts/alert.ts'
import type { AttemptOutcome, SettleResult } from '../deliveries/settlement.ts'
import { type SendResult, sendWebhook } from '../outbound/exchange.ts'
import type { IsCredentialHeader } from '../events/credential-headers.ts'
import { isReplay, type LeasedTask, type WorkerTask } from '../queue/tasks.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { WorkScheduler } from '../sandbox/work-scheduler.ts'
import type { Stores } from '../stores.ts'
import type { TestDestination } from '../test-requests/destination.ts'
import type { WorkerConfig } from './config.ts'
import type { HealthTracker } from './connection-health.ts'
import type { AttemptSignal } from './destination-queue.ts'
import type { Destination } from './destination.ts'
import type { KeyOutageLog } from './key-unavailable.ts'
import { createLoadedEvent, type LoadedEvent } from './loaded-event.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { MissingEvents } from './missing-events.ts'
import { breakerResult, healthResult, outcomeOf } from './outcome.ts'
import { prepareRequest } from './request.ts'
import type { StartTimer } from '@strongroom/platform/timers'

/** What it costs to start a request, in units of the work scheduler. */
const UNITS_PER_REQUEST = 10_000
/** The same for writing its outcome. */
const UNITS_PER_OUTCOME = 3_000

export interface DelivererDeps {
  stores: Pick<Stores, 'deliveries' | 'events' | 'settlement'>
  clock: Clock
  startTimer: StartTimer
  fetcher: SafeFetch
  testDestination: TestDestination
  sandbox: Sandbox
  isCredentialHeader: IsCredentialHeader
  scheduler: WorkScheduler
  random: () => number
  health: HealthTracker
  alerts: Alerts
  metrics: WorkerMetrics
  missingEvents: MissingEvents
  keyOutageLog: KeyOutageLog
  log: Log
  config: Pick<WorkerConfig, 'attemptTimeoutMs'>
}

/** An outcome is written again after any error, because a lost outcome repeats the request. */
const MAX_WRITE_ATTEMPTS = 4
const WRITE_RETRY_MS = 250

export type Deliverer = ReturnType<typeof createDeliverer>

export function createDeliverer(deps: DelivererDeps) {
  const { stores, clock, startTimer, scheduler, health, alerts, metrics, missingEvents } = deps
  const { config } = deps

  function write(
    task: WorkerTask,
    outcome: AttemptOutcome,
    loaded: LoadedEvent | undefined,
  ): Promise<SettleResult> {
    return loaded ? loaded.settle(task, outcome) : stores.settlement.settle(task, outcome)
  }

  /** False if another worker has claimed the task, or another run has replaced its own. */
  async function settle(
    task: WorkerTask,
    outcome: AttemptOutcome,
    loaded: LoadedEvent | undefined,
  ): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await write(task, outcome, loaded)
        if (result === 'missing') missingEvents.report('deliver')
        if (result === 'run_replaced') metrics.runReplaced()
        if (result !== 'lease_lost') return result !== 'run_replaced'
        // After a lost response, the earlier write most likely succeeded and removed the lease.
        if (attempt > 1) return true
        metrics.leaseLost()
        return false
      } catch (error) {
        if (attempt === MAX_WRITE_ATTEMPTS || clock.now() >= task.dueAt) throw error
        await new Promise<void>((resume) => void startTimer(WRITE_RETRY_MS * attempt, resume))
      }
    }
  }

  /** Writes the outcome of a task. If the delivery has ended, reports it. */
  async function conclude(
    task: WorkerTask,
    outcome: AttemptOutcome,
    destination: Pick<Destination, 'connection'> | undefined,
    loaded: LoadedEvent | undefined,
  ): Promise<void> {
    if (!(await settle(task, outcome, loaded))) return
    if (outcome.state === 'retrying') return
    metrics.ended(outcome.state)
    if (!destination || outcome.state === 'filtered') return
    const { userId, sourceId, connectionId, name: connectionName } = destination.connection
    health.ended(destination.connection)
    if (outcome.state !== 'failed') return
    const { eventId } = task
    const { reason } = outcome
    const about = { userId, sourceId, connectionId, connectionName }
    alerts.raise({
      kind: 'delivery.failed',
      ...about,
      eventId,
      eventType: loaded?.eventType,
      reason,
    })
  }

  async function concludeAttempt(
    result: SendResult,
    task: LeasedTask,
    destination: Destination,
    loaded: LoadedEvent,
  ): Promise<AttemptSignal> {
    const { connection, schedule } = destination
    metrics.attempted(result.end, result.attempt.latencyMs / 1000)
    // Paused before the retry is written, so that the retry is held.
    if (result.end === 'gone') await health.pause(connection, 'gone')
    const now = clock.now()
    const outcome = outcomeOf(result, task, { schedule, now, random: deps.random })
    await conclude(task, outcome, destination, loaded)
    // A failed replay is a manual test and must not pause the connection.
    const healthSignal = healthResult(result)
    if (healthSignal === 'delivered' || !isReplay(task)) health.attempted(connection, healthSignal)
    return breakerResult(result)
  }

  return {
    conclude,

    /** `busy`: the sandbox has no room, or the rest of the lease is too short for a request. */
    async attempt(
      task: LeasedTask,
      destination: Destination,
      event: LoadedEvent | undefined,
    ): Promise<AttemptSignal> {
      const loaded = event ?? (await loadEvent(task))
      const received = await loaded?.received()
      if (!loaded || !received) {
        await settle(task, { state: 'failed', reason: 'event_gone' }, loaded)
        return 'unknown'
      }
      if (await stores.deliveries.isReplaced(task)) {
        await settle(task, { state: 'failed', reason: 'replaced' }, loaded)
        return 'unknown'
      }
      // Routed deliveries were filtered by the router; replayed ones were not.
      const isUnfiltered = isReplay(task) && task.attemptNumber === 1
      const filtered = isUnfiltered ? await destination.filteredFor(received) : undefined
      if (filtered !== undefined) {
        await conclude(task, { state: 'filtered', reason: filtered }, destination, loaded)
        return 'unknown'
      }
      const prepared = await prepareRequest(received, destination, task, { ...deps, ...config })
      switch (prepared.kind) {
        case 'busy':
          return 'busy'
        case 'key_unavailable':
          deps.keyOutageLog.report(prepared.cause)
          return 'key_unavailable'
        case 'dropped':
          await conclude(task, { state: 'filtered', reason: prepared.reason }, destination, loaded)
          return 'unknown'
        case 'failed':
          return concludeAttempt(prepared.result, task, destination, loaded)
      }
      const { connection } = destination
      const { destinationUrl, userId } = connection
      // An event may have 50 deliveries: starting all requests in one turn would block other users.
      await scheduler.run(userId, (budget) => budget.spend(UNITS_PER_REQUEST))
      // A request that outlasts its lease could be sent twice.
      if (clock.now() + config.attemptTimeoutMs > task.dueAt) return 'busy'
      if (!isReplay(task) && task.attemptNumber === 1) {
        metrics.firstAttempt((clock.now() - task.receivedAt) / 1000)
      }
      const { request, credentialHeaders, sent } = prepared
      const fetcher = deps.testDestination(connection, task) ?? deps.fetcher
      const sender = { ...deps, fetcher }
      const result = await sendWebhook(sender, destinationUrl, request, credentialHeaders)
      // Many responses may arrive at once.
      await scheduler.run(userId, (budget) => budget.spend(UNITS_PER_OUTCOME))
      const attempt = { ...result.attempt, ...sent }
      return concludeAttempt({ ...result, attempt }, task, destination, loaded)
    },
  }

  async function loadEvent(task: LeasedTask): Promise<LoadedEvent | undefined> {
    const event = await stores.events.getForTask(task)
    return event ? createLoadedEvent(stores, event) : undefined
  }
}
