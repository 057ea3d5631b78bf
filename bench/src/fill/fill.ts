// Fills a data directory with delivered events: Ferryhook's own ingest and worker in this process, so that
// exactly their items are stored, with a clock of their own and destinations that respond at once.

import { openEngine } from '@strongroom/engine/engine'
import { createIngest } from '@strongroom/ferryhook/ingest/handler'
import { eventLimits } from '@strongroom/ferryhook/ingest/limits'
import { createWorkScheduler } from '@strongroom/ferryhook/sandbox/work-scheduler'
import { createSealedSecrets } from '@strongroom/ferryhook/signing/sealed-secrets'
import { newSecretList } from '@strongroom/ferryhook/signing/secret-list'
import { createStores, type Stores } from '@strongroom/ferryhook/stores'
import { createWorker } from '@strongroom/ferryhook/worker/worker'
import { createCursors } from '@strongroom/kit/cursor'
import { newId } from '@strongroom/kit/ids'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import type { Clock } from '@strongroom/platform/clock'
import { startServer } from '../ferryhook/servers.ts'
import { webhook } from '../ferryhook/webhook.ts'
import { inParallel } from '../parallel.ts'

const SOURCES = 20
/** Concurrent requests share commits. */
const AT_ONCE = 400
const MS_PER_EVENT = 2
const MAX_POLLS = 1000
const POLL_MS = 500
const DESTINATION = 'https://shop.example/hooks'
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

export type OnProgress = (stored: number) => void

/** The directory must not exist. */
export async function fill(
  directory: string,
  count: number,
  onProgress: OnProgress,
): Promise<void> {
  // The server creates tables, keys and their options.
  const server = await startServer(directory, { delivers: false })
  await server.close()
  const clock = createClock(Date.now() - count * MS_PER_EVENT)
  const engine = await openEngine({ directory, clock, sweepIntervalMs: 0 })
  const cursors = createCursors(new Uint8Array(32))
  const stores = createStores({ db: engine, clock, cursors })
  const scheduler = createWorkScheduler()
  const deliveries = createDeliveryCount()
  const deps = {
    stores,
    clock,
    secretBox,
    log: silentLog,
    metrics: createMetrics(),
    scheduler,
    // Nothing here waits for time to pass.
    startTimer: () => () => {},
  }
  const worker = createWorker({
    ...deps,
    fetcher: respondingFetch(deliveries.add),
    sandbox: { run: () => Promise.reject(new Error('No scripts here')), close: async () => {} },
  })
  const ingest = createIngest({
    ...deps,
    publicUrl: 'https://hooks.example.com',
    limits: eventLimits({ FERRYHOOK_EVENT_LIMITS: false }),
    reserve: worker.reserve,
    onStored: (event, isReserved) => (isReserved ? undefined : worker.wake(event)),
  })
  // What found no room in the worker waits in the queue, as in a server that polls.
  let delivered = -1
  const polling = setInterval(() => {
    if (deliveries.count() === delivered) clock.advance(POLL_MS)
    delivered = deliveries.count()
    worker.wake()
  }, POLL_MS)
  try {
    const sources = await createSources(stores, clock)
    await inParallel(count, AT_ONCE, async (number) => {
      clock.advance(MS_PER_EVENT)
      await ingest.receive(requestTo(sources[number % SOURCES]!, number))
      await deliveries.until(number - 2 * AT_ONCE)
      if (number % 1000 === 0) onProgress(number)
    })
    for (let n = 0; n < MAX_POLLS && deliveries.count() < count; n++) {
      clock.advance(POLL_MS)
      await worker.runOnce()
    }
    await worker.runOnce()
    await ingest.flush()
    if (deliveries.count() < count) throw new Error('Not all events were delivered')
    await requireDelivered(stores, sources)
  } finally {
    clearInterval(polling)
    await worker.close()
    await scheduler.close()
    await engine.close()
  }
}

function createClock(from: number): Clock & { advance(ms: number): void } {
  let now = from
  return {
    now: () => now,
    advance(ms) {
      now += ms
    },
  }
}

/** Counts deliveries, so that those who receive do not get far ahead. */
function createDeliveryCount() {
  let delivered = 0
  let waiting: { count: number; resolve: () => void }[] = []
  return {
    count: () => delivered,
    add() {
      delivered += 1
      if (waiting.length === 0) return
      const ready = waiting.filter(({ count }) => count <= delivered)
      waiting = waiting.filter(({ count }) => count > delivered)
      for (const { resolve } of ready) resolve()
    },
    async until(count: number): Promise<void> {
      if (delivered >= count) return
      await new Promise<void>((resolve) => waiting.push({ count, resolve }))
    },
  }
}

async function createSources(stores: Stores, clock: Clock): Promise<string[]> {
  const sealedSecrets = createSealedSecrets(secretBox)
  // The plan that retains events longest.
  const person = { email: 'filled@example.com', name: 'Filled', plan: 'team' } as const
  const { userId } = await stores.users.create(person)
  const ids: string[] = []
  for (let n = 0; n < SOURCES; n++) {
    // oxlint-disable-next-line no-await-in-loop -- a few
    const { sourceId } = await stores.sources.create({ userId, name: 'Shop', provider: 'custom' })
    const id = { sourceId, userId, connectionId: newId('conn') }
    const secrets = newSecretList(SECRET, clock.now())
    // oxlint-disable-next-line no-await-in-loop
    const signingSecret = await sealedSecrets.sealConnectionSecrets(id, secrets)
    const connection = { ...id, name: 'Sink', destinationUrl: DESTINATION, signingSecret }
    // oxlint-disable-next-line no-await-in-loop
    await stores.connections.create(connection)
    ids.push(sourceId)
  }
  return ids
}

function requestTo(sourceId: string, number: number) {
  const body = Buffer.from(webhook(number))
  return {
    method: 'POST',
    parameter: sourceId,
    query: undefined,
    rawHeaders: [
      ['host', 'hooks.example.com'],
      ['content-type', 'application/json'],
      ['content-length', String(body.length)],
      ['user-agent', 'Sender/1.0'],
    ].flat(),
    body,
    clientAddress: '203.0.113.7',
  }
}

function respondingFetch(onRequest: () => void): SafeFetch {
  const body = new Uint8Array()
  const respond = async (url: string | URL) => {
    onRequest()
    const headers = { 'content-length': '0' }
    return { url: String(url), status: 200, headers, body, truncated: false, truncatedBy: null }
  }
  return Object.assign(respond, {
    check: (url: string | URL) => new URL(url),
    close: async () => {},
  })
}

/** A sample: the last events of each source. */
async function requireDelivered(stores: Stores, sources: readonly string[]): Promise<void> {
  for (const sourceId of sources) {
    // oxlint-disable-next-line no-await-in-loop -- a few
    const { items } = await stores.events.listBySource(sourceId)
    const other = items.find(({ status }) => status !== 'delivered')
    if (other !== undefined) throw new Error(`A filled event has the status ${other.status}`)
  }
}
