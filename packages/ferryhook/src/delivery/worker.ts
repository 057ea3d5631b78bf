/**
 * The delivery worker: routes events, attempts deliveries, retries, wakes and counts. Any number of
 * them, on any number of machines, share the work through the store alone.
 */
import { type Clock, isRecent } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import type { Metrics } from '@strongroom/kit/metrics'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import type { SecretBox } from '@strongroom/kit/secret-box'
import { createKeptSecrets } from '../accounts/kept-secrets.ts'
import { type Alerts, noAlerts } from '../alerts/alert.ts'
import type { DataLayer } from '../db/data-layer.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { createDeliver } from './deliver.ts'
import { createDestinations } from './destinations.ts'
import { createDispatch, type Dispatch } from './dispatch.ts'
import { createGoneEvents } from './gone-events.ts'
import { createHealth } from './health.ts'
import { createIntake } from './intake.ts'
import { createKeysWatch, sayingKeysAway } from './keys-away.ts'
import { createLanes } from './lanes.ts'
import { createWorkerMetrics } from './metrics.ts'
import { createRouteEvent } from './route-event.ts'
import { defaultSettings, type WorkerSettings } from './settings.ts'
import { systemTimers, type Timers } from './timers.ts'
import { wakeConnection } from './wake-connection.ts'

export interface WorkerOptions {
  db: DataLayer
  clock: Clock
  timers?: Timers
  /** Reaches public addresses and those that the operator allows, and nothing else. */
  fetcher: SafeFetch
  secretBox: SecretBox
  sandbox: Sandbox
  alerts?: Alerts
  log: Log
  metrics: Metrics
  settings?: Partial<WorkerSettings>
  random?: () => number
}

export interface DeliveryWorker {
  start(): void
  /** There is work of this source, or of anybody: looks at once instead of at the next poll. */
  hint(sourceId?: string): void
  /** A source or one of its connections was changed in this process: what is remembered is old. */
  changed(sourceId: string): void
  /** Does all that is due now, to its end. For tests, and for machines that wake up now and then. */
  runOnce(): Promise<void>
  /** Takes no more work, ends what has begun, gives back what has not, and resolves. */
  close(): Promise<void>
}

export function createWorker(options: WorkerOptions): DeliveryWorker {
  const { db, clock, timers = systemTimers, fetcher, sandbox, log, random = Math.random } = options
  const { alerts = noAlerts } = options
  const settings = { ...defaultSettings, ...options.settings }
  const open = createKeptSecrets(sayingKeysAway(options.secretBox))
  const lanes = createLanes({ clock, timers, settings })
  const metrics = createWorkerMetrics(options.metrics, () => lanes.inHand)
  const gone = createGoneEvents({ clock, log, metrics })
  const keys = createKeysWatch({ clock, log })
  const destinations = createDestinations({ db, clock, open, settings })
  const onOutdated = ({ sourceId }: { sourceId: string }) => destinations.forget(sourceId)
  const health = createHealth({ db, clock, log, alerts, settings: settings.health, onOutdated })
  const seen = { alerts, metrics, gone, keys, log }
  const parts = { db, clock, timers, destinations, lanes, health, settings, ...seen }
  const deliver = createDeliver({ ...parts, fetcher, sandbox, random })
  const routing = createRouteEvent({ ...parts, offer: (...leased) => dispatch.offer(...leased) })
  const underWay = new Set<Promise<unknown>>()
  const dispatch: Dispatch = createDispatch({
    ...parts,
    deliver,
    route: routing.route,
    async wake(task) {
      // What was let go is due in the shard of the connection now.
      if ((await wakeConnection(task, parts)) > 0) hint(task.connectionId)
    },
    track,
    onProgress: () => intake.resume(),
  })
  const intake = createIntake({
    ...parts,
    handle: (task) => noted(dispatch.handle(task)),
    vacancies: lanes.vacancies,
  })
  let stopPolling = () => {}
  let flushedAt = clock.now()

  /** So that whoever waits for all of it can. */
  async function noted<T>(work: Promise<T>): Promise<T> {
    underWay.add(work)
    try {
      return await work
    } finally {
      underWay.delete(work)
    }
  }

  function track<T>(work: Promise<T>): Promise<T | undefined> {
    return noted(work).catch((error: unknown) => {
      // The lease of the task ends by itself, and then it is due again.
      log.error('A delivery failed in the worker and is tried again', { error })
      metrics.taskFailed('deliver')
      return undefined
    })
  }

  async function allDone(): Promise<void> {
    while (underWay.size > 0) await Promise.allSettled(underWay)
  }

  function hint(id?: string): void {
    void noted(intake.read(id)).catch(cannotRead)
  }

  function cannotRead(error: unknown): void {
    log.error('Due work cannot be read: it is tried again', { error })
  }

  function poll(): void {
    stopPolling = timers.after(settings.pollMs, poll)
    void noted(intake.readAnyway()).catch(cannotRead)
    void noted(keepHouse()).catch(cannotRead)
  }

  async function keepHouse(): Promise<void> {
    destinations.sweep()
    lanes.sweep()
    routing.sweep()
    if (isRecent(clock, flushedAt, settings.health.flushMs)) return
    flushedAt = clock.now()
    await health.flush()
  }

  return {
    start: poll,
    hint,
    changed: destinations.forget,
    async runOnce() {
      await intake.read()
      await allDone()
      await keepHouse()
    },
    async close() {
      stopPolling()
      intake.stop()
      for (const job of lanes.close()) job.giveBack()
      await allDone()
      await health.flush()
    },
  }
}
