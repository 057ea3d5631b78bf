/**
 * The delivery worker: routes events, attempts deliveries, retries, wakes up and meters. Any number
 * of workers on any number of machines share the work through the store alone.
 */
import { createInFlight } from '@strongroom/kit/in-flight'
import type { Log } from '@strongroom/kit/log'
import type { Metrics } from '@strongroom/kit/metrics'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import type { SecretBox } from '@strongroom/kit/secret-box'
import { type Clock, isRecent } from '@strongroom/platform/clock'
import { type Alerts, noAlerts } from '../alerts/alert.ts'
import { createCredentialRule, type IsCredentialHeader } from '../events/credential-headers.ts'
import type { Event } from '../events/item.ts'
import type { Lease } from '../queue/tasks.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { WorkScheduler } from '../sandbox/work-scheduler.ts'
import { createSealedSecrets } from '../signing/sealed-secrets.ts'
import type { Stores } from '../stores.ts'
import { createTestDestination, type TestDestination } from '../test-requests/destination.ts'
import { defaultConfig, type WorkerConfig } from './config.ts'
import { createHealthTracker } from './connection-health.ts'
import { createDeliverer } from './deliverer.ts'
import { createDestinationCache } from './destination-cache.ts'
import { createDispatcher } from './dispatcher.ts'
import { createKeyOutageLog } from './key-unavailable.ts'
import { createWorkerMetrics } from './metrics.ts'
import { createMissingEvents } from './missing-events.ts'
import { createPoller, type NewTasks, UNITS_PER_TASK } from './poller.ts'
import { createRouter, type StoredEvent } from './router.ts'
import { startTimer as systemTimer, type StartTimer } from '@strongroom/platform/timers'
import { createWaker } from './waker.ts'

export interface WorkerOptions {
  stores: Stores
  clock: Clock
  startTimer?: StartTimer
  /** Reaches only public addresses and those that the operator allows. */
  fetcher: SafeFetch
  /** Created from the stores and the secret box unless given. */
  testDestination?: TestDestination
  secretBox: SecretBox
  sandbox: Sandbox
  /** Defaults to the rules without exemptions of the operator. */
  isCredentialHeader?: IsCredentialHeader
  scheduler: WorkScheduler
  alerts?: Alerts
  log: Log
  metrics: Metrics
  workerConfig?: Partial<WorkerConfig>
  random?: () => number
}

type NewEvent = Pick<Event, 'eventId' | 'sourceId' | 'userId' | 'receivedAt'>

/** Room for an event that this process is about to store. Exactly one of the functions is called. */
export interface Reservation {
  /** For the route task that is stored with the event. */
  lease: Lease
  /** The event was stored with the lease. */
  deliver(stored: StoredEvent): void
  /** The event was not stored. */
  cancel(): void
}

export interface DeliveryWorker {
  start(): void
  /** Undefined if there is no room: the event then waits for its turn in the queue. */
  reserve(source: Pick<Event, 'sourceId' | 'userId'>): Promise<Reservation | undefined>
  /** Routes a new event, or polls all shards, without waiting for the next poll. */
  wake(event?: NewEvent): void
  /** A source or one of its connections was changed in this process, so its cache entry is stale. */
  invalidate(sourceId: string): void
  /** Runs everything that is due now to its end. For tests, and for scheduled invocations. */
  runOnce(): Promise<void>
  /** Stores what was counted about connections. */
  flush(): Promise<void>
  /** Stops taking work, finishes running attempts and releases queued ones. */
  close(): Promise<void>
}

export function createWorker(options: WorkerOptions): DeliveryWorker {
  const { stores, clock, startTimer = systemTimer, log, random = Math.random } = options
  const { fetcher, sandbox, scheduler, alerts = noAlerts } = options
  const { isCredentialHeader = createCredentialRule() } = options
  const config = { ...defaultConfig, ...options.workerConfig }
  const secrets = createSealedSecrets(options.secretBox)
  const { testDestination = createTestDestination({ stores, sealedSecrets: secrets }) } = options
  const inFlight = createInFlight()
  const metrics = createWorkerMetrics(options.metrics, () => dispatcher.queues.inFlight)
  const missingEvents = createMissingEvents({ clock, log, metrics })
  const keyOutageLog = createKeyOutageLog({ clock, log })
  const destinations = createDestinationCache({ stores, clock, open: secrets, scheduler, config })
  const health = createHealthTracker({
    stores,
    clock,
    log,
    alerts,
    config: config.health,
    onOutdated: ({ sourceId }) => destinations.invalidate(sourceId),
  })
  const shared = { stores, clock, startTimer, destinations, health, config, alerts, metrics, log }
  const parts = { ...shared, scheduler, missingEvents, keyOutageLog }
  const router = createRouter(parts)
  const dispatcher = createDispatcher({
    ...parts,
    deliverer: createDeliverer({
      ...parts,
      fetcher,
      testDestination,
      sandbox,
      random,
      isCredentialHeader,
    }),
    router,
    waker: createWaker(parts),
    track,
    onProgress: () => poller.resume(),
    onReleased: (connectionId) => read({ id: connectionId }),
  })
  const poller = createPoller({
    ...parts,
    handle: (task) => inFlight.track(dispatcher.handle(task)),
    capacity: dispatcher.queues.capacity,
  })
  let cancelPoll = () => {}
  let flushedAt = clock.now()

  function track(work: Promise<void>): void {
    inFlight.track(work).catch((error: unknown) => {
      // Its lease expires, and then it is due again.
      log.error('delivery failed in the worker, retrying', { error })
      metrics.taskFailed('deliver')
    })
  }

  function read(added?: NewTasks): void {
    inFlight.track(poller.read(added)).catch(logPollFailure)
  }

  function wake(event?: NewEvent): void {
    if (!event) return read()
    const routed = stores.queue
      .routeTask(event)
      .then((task) => poller.read({ id: event.sourceId, task }))
    inFlight.track(routed).catch(logPollFailure)
  }

  async function deliver({ event, body }: StoredEvent, lease: Lease): Promise<void> {
    const task = await stores.queue.claimedRoute(event, lease)
    await scheduler.run(event.userId, (budget) => budget.spend(UNITS_PER_TASK))
    if (dispatcher.queues.isClosed) return void (await stores.queue.releaseRoute(task))
    await dispatcher.route(task, { event, body })
  }

  function logPollFailure(error: unknown): void {
    log.error('due tasks not read, retrying', { error })
  }

  function poll(): void {
    cancelPoll = startTimer(config.pollMs, poll)
    inFlight.track(poller.poll()).catch(logPollFailure)
    inFlight.track(maintain()).catch(logPollFailure)
  }

  async function maintain(): Promise<void> {
    destinations.evictStale()
    dispatcher.queues.evictIdle()
    router.evictStale()
    if (isRecent(clock, flushedAt, config.health.flushMs)) return
    flushedAt = clock.now()
    await health.flush()
  }

  return {
    start: poll,
    async reserve(source) {
      const free = await poller.reserve(source)
      if (!free) return undefined
      const lease = stores.queue.newLease(router.leaseUntil())
      return {
        lease,
        deliver(stored) {
          inFlight.track(deliver(stored, lease).finally(free)).catch((error: unknown) => {
            // Its claim was released or ends, and then a poll finds it.
            log.error('task failed, retrying', { kind: 'route', error })
            metrics.taskFailed('route')
          })
        },
        cancel: free,
      }
    },
    wake,
    invalidate: destinations.invalidate,
    async runOnce() {
      await poller.read()
      await inFlight.settled()
      await maintain()
    },
    flush: health.flush,
    async close() {
      cancelPoll()
      poller.stop()
      dispatcher.queues.close()
      await inFlight.settled()
      await health.close()
    },
  }
}
