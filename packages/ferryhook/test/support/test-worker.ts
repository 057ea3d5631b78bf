/** A worker on its own store, with local destinations and a controlled clock. */
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createSafeFetch, type SafeFetch, type SafeFetchOptions } from '@strongroom/kit/safe-fetch'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import { type TestTimers, testTimers } from '@strongroom/kit/testing/test-timers'
import type { Alert } from '../../src/alerts/alert.ts'
import type { Connection } from '../../src/connections/item.ts'
import type { CreateEventInput } from '../../src/events/event-insert.ts'
import type { Event } from '../../src/events/item.ts'
import { createWorkScheduler } from '../../src/sandbox/work-scheduler.ts'
import { createSealedSecrets } from '../../src/signing/sealed-secrets.ts'
import { newSecretList } from '../../src/signing/secret-list.ts'
import type { Source } from '../../src/sources/item.ts'
import type { Stores } from '../../src/stores.ts'
import { createWorker, type DeliveryWorker, type WorkerOptions } from '../../src/worker/worker.ts'
import { openSink, type Sink } from './test-destination.ts'
import {
  connectionInput,
  eventInput,
  storesOn,
  openWorkbench,
  required,
  type Workbench,
  type World,
} from './test-stores.ts'

export interface WorkerBench extends Workbench {
  timers: TestTimers
  sink: Sink
  alerts: Alert[]
  worker: DeliveryWorker
  /** Another worker on the same store, as on another machine. */
  anotherWorker(options?: Partial<WorkerOptions>): DeliveryWorker
  newSource(): Promise<Source>
  /** To a path of the test destination, or to a whole URL. */
  connect(source: Source, to: string, given?: Partial<Connection>): Promise<Connection>
  receive(source: Source, given?: Partial<CreateEventInput>): Promise<Event>
  status(event: Event): Promise<string>
  /** The attempts of the event to the connection, in order. */
  attempts(event: Event, connection: Connection): ReturnType<Stores['attempts']['listByEvent']>
  delivery(event: Event, connection: Connection): ReturnType<Stores['deliveries']['get']>
  /** Lets time pass second by second, and runs what is due. */
  live(seconds: number): Promise<void>
}

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

export const sealedSecrets = createSealedSecrets(secretBox)

export async function openWorkerBench(
  world: Pick<World, 'store' | 'hostility'>,
  { fetch = {}, ...given }: Partial<WorkerOptions> & { fetch?: SafeFetchOptions } = {},
): Promise<WorkerBench> {
  const bench = await openWorkbench(world)
  const { clock, stores } = bench
  const timers = testTimers(clock)
  const sink = await openSink(clock)
  const alerts: Alert[] = []
  const fetchers: SafeFetch[] = []
  const workers: DeliveryWorker[] = []
  let people = 0

  function newWorker(options: Partial<WorkerOptions> = {}): DeliveryWorker {
    const fetcher = createSafeFetch({
      allow: ['127.0.0.0/8'],
      allowHttp: true,
      ports: 'unprivileged',
      userAgent: 'Ferryhook/1.0',
      clock,
      startTimer: timers.start,
      ...fetch,
    })
    fetchers.push(fetcher)
    const worker = createWorker({
      stores: storesOn(bench.db, clock, world.hostility),
      clock,
      startTimer: timers.start,
      fetcher,
      secretBox,
      sandbox: { run: () => Promise.reject(new Error('No scripts here')), close: async () => {} },
      scheduler: createWorkScheduler(),
      alerts: { raise: (alert) => void alerts.push(alert) },
      log: silentLog,
      metrics: createMetrics(),
      ...given,
      ...options,
      // No cache by default, because the test clock does not advance between two steps.
      workerConfig: { cacheMs: 0, ...given.workerConfig, ...options.workerConfig },
    })
    workers.push(worker)
    return worker
  }

  const worker = newWorker()
  return {
    ...bench,
    timers,
    sink,
    alerts,
    worker,
    anotherWorker: newWorker,
    async newSource() {
      const email = `worker-${++people}@example.com`
      const { userId } = await stores.users.create({ email, name: 'Ada', plan: 'team' })
      return stores.sources.create({ userId, name: 'Shop', provider: 'custom' })
    },
    async connect({ sourceId, userId }, to, more = {}) {
      const destinationUrl = to.startsWith('/') ? sink.url(to) : to
      const connection = await stores.connections.create(
        connectionInput({ sourceId, userId, ...more, destinationUrl }),
      )
      const secrets = newSecretList(SECRET, clock.now())
      const signingSecret = await sealedSecrets.sealConnectionSecrets(connection, secrets)
      const { connectionId } = connection
      return stores.connections.update(connectionId, { signingSecret }, { sourceId })
    },
    receive: ({ sourceId, userId }, more = {}) =>
      stores.events.create(eventInput({ sourceId, userId, plan: 'team', ...more })),
    status: async ({ eventId }) => required(await stores.events.getById(eventId)).status,
    async attempts({ eventId }, { connectionId }) {
      const all = await stores.attempts.listByEvent(eventId)
      return all.filter((attempt) => attempt.connectionId === connectionId)
    },
    delivery: ({ eventId }, { connectionId }) => stores.deliveries.get(eventId, connectionId),
    async live(seconds) {
      for (let second = 0; second < seconds; second++) {
        await timers.pass({ ms: 1_000 })
        await worker.runOnce()
      }
    },
    async close() {
      await timers.until(Promise.all(workers.map((each) => each.close())))
      await sink.close()
      await Promise.all(fetchers.map((each) => each.close()))
      await bench.close()
    },
  }
}
