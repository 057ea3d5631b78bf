/** Ingest on its own store and HTTP server, and requests to it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCursors } from '@strongroom/kit/cursor'
import type { Db } from '@strongroom/kit/db'
import { createApp } from '@strongroom/kit/http/app'
import { createHotMatcher, mountHotRoutes } from '@strongroom/kit/http/hot-routes'
import { nodeListener } from '@strongroom/kit/http/node'
import type { TrustedProxies } from '@strongroom/kit/http/client-address'
import { newId } from '@strongroom/kit/ids'
import { createLog } from '@strongroom/kit/log'
import { createMetrics, type Metrics } from '@strongroom/kit/metrics'
import type { TestStore } from '@strongroom/kit/testing/stores'
import type { TestClock } from '@strongroom/kit/testing/test-clock'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import type { Alert } from '../../src/alerts/alert.ts'
import type { Event } from '../../src/events/item.ts'
import { createIngest, type Ingest, type IngestOptions } from '../../src/ingest/handler.ts'
import { ingestRoutes } from '../../src/ingest/routes.ts'
import { type Plan, planLimits } from '../../src/plans.ts'
import { createSealedSecrets } from '../../src/signing/sealed-secrets.ts'
import { newSecretList } from '../../src/signing/secret-list.ts'
import type { Source } from '../../src/sources/item.ts'
import type { CreateSourceInput } from '../../src/sources/store.ts'
import { createStores, type Stores } from '../../src/stores.ts'
import { allDue, storesOn, openWorkbench, required, type Workbench } from './test-stores.ts'

export const PUBLIC_URL = 'https://hooks.example.com'

const sealedSecrets = createSealedSecrets(secretBox)

export interface Sent {
  method?: string
  body?: string | Uint8Array
  headers?: Record<string, string>
  query?: string
}

interface Answered {
  status: number
  headers: Headers
  body: { id?: string; status?: string; duplicate?: boolean; error?: { code: string } }
}

/** One process that receives. */
export interface Receiver {
  ingest: Ingest
  url: string
  hinted: string[]
  alerts: Alert[]
  lines: string[]
  metrics: Metrics
  send(sourceId: string, sent?: Sent): Promise<Answered>
  close(): Promise<void>
}

type Given = Partial<IngestOptions> & { trustedProxies?: TrustedProxies }

async function openReceiver(
  stores: Stores,
  clock: TestClock,
  { trustedProxies = { hops: 0 }, ...given }: Given = {},
): Promise<Receiver> {
  const [lines, hinted, alerts]: [string[], string[], Alert[]] = [[], [], []]
  const log = createLog({ level: 'debug', sink: (line) => void lines.push(line) })
  const metrics = createMetrics()
  const http = { log, metrics, publicUrl: PUBLIC_URL, trustedProxies }
  const ingest = createIngest({
    ...http,
    stores,
    clock,
    secretBox,
    onStored: ({ sourceId }) => void hinted.push(sourceId),
    alerts: { raise: (alert) => void alerts.push(alert) },
    // Tests flush explicitly.
    startTimer: () => () => {},
    ...given,
  })
  const hotRoutes = mountHotRoutes(ingestRoutes(ingest), 'ferryhook', '/')
  const server = createServer(nodeListener(createApp(http), createHotMatcher(hotRoutes)))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    ingest,
    url,
    hinted,
    alerts,
    lines,
    metrics,
    async send(sourceId, { query, ...sent } = {}) {
      const address = `${url}/in/${sourceId}${query === undefined ? '' : `?${query}`}`
      const answer = await fetch(address, { method: 'POST', ...sent })
      const text = await answer.text()
      const isJson = answer.headers.get('content-type') === 'application/json' && text !== ''
      const body = (isJson ? JSON.parse(text) : { text }) as Answered['body']
      return { status: answer.status, headers: answer.headers, body }
    },
    async close() {
      const closed = new Promise((resolve) => void server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

export interface IngestBench extends Workbench, Receiver {
  /** Another process on the same store, which may be unreliable. */
  another(given?: Given & { on?: Db }): Promise<Receiver>
  source(given?: SourceGiven): Promise<Source>
  /** The events of a source, newest first. */
  eventsOf(source: Pick<Source, 'sourceId'>): Promise<Event[]>
  bodyOf(event: Event): Promise<Buffer>
  /** The ids of events that are not routed yet. */
  toBeRouted(): Promise<string[]>
  close(): Promise<void>
}

type SourceGiven = Partial<Omit<CreateSourceInput, 'signingSecret'>> & {
  plan?: Plan
  secret?: string
}

let users = 0

export async function openIngestBench(store: TestStore, given: Given = {}): Promise<IngestBench> {
  const bench = await openWorkbench({ store })
  const { stores, clock } = bench
  const receiver = await openReceiver(stores, clock, given)
  const others: Receiver[] = []
  return {
    ...bench,
    ...receiver,
    async another({ on, ...options } = {}) {
      const cursors = createCursors(new Uint8Array(32).fill(1))
      const otherStores = on ? createStores({ db: on, clock, cursors }) : storesOn(bench.db, clock)
      const other = await openReceiver(otherStores, clock, options)
      others.push(other)
      return other
    },
    async source({ plan = 'team', secret, ...input } = {}) {
      const email = `owner-${users++}@example.com`
      const { userId } = await stores.users.create({ email, name: 'Ada', plan })
      const place = { userId, sourceId: newId('src'), ...input }
      const list = secret === undefined ? undefined : newSecretList(secret, clock.now())
      const signingSecret = list && (await sealedSecrets.sealSourceSecrets(place, list))
      return stores.sources.create({
        name: 'Shop',
        provider: 'custom',
        ...place,
        ...(signingSecret !== undefined && { signingSecret }),
      })
    },
    eventsOf: async ({ sourceId }) => (await stores.events.listBySource(sourceId)).items,
    bodyOf: async (event) => Buffer.from(required(await stores.events.getBody(event))),
    async toBeRouted() {
      const due = await allDue(stores)
      return due.flatMap((task) => (task.kind === 'route' ? [task.eventId] : []))
    },
    async close() {
      for (const each of [receiver, ...others]) await each.close()
      await bench.close()
    },
  }
}

/** Seals new secrets of a source; caches of it have to be invalidated. */
export async function sealSecret(
  source: Pick<Source, 'sourceId' | 'userId'>,
  secret: string,
  now: number,
): Promise<string> {
  return sealedSecrets.sealSourceSecrets(source, newSecretList(secret, now))
}

/** The limits of the plans, some of them low enough to be reached. */
export const few = (plan: Plan, given: Partial<(typeof planLimits)[Plan]>) => ({
  limits: { ...planLimits, [plan]: { ...planLimits[plan], ...given } },
})
