/** Ingest on a store and a real HTTP server of its own, and what tests send to it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCursors } from '@strongroom/kit/cursor'
import type { Db } from '@strongroom/kit/db'
import { nodeRoutes } from '@strongroom/kit/http/node-routes'
import type { TrustedProxies } from '@strongroom/kit/http/trusted-proxies'
import { newId } from '@strongroom/kit/ids'
import { createLog } from '@strongroom/kit/log'
import { createMetrics, type Metrics } from '@strongroom/kit/metrics'
import type { TestStore } from '@strongroom/kit/testing/stores'
import type { TestClock } from '@strongroom/kit/testing/test-clock'
import { secretBox } from '@strongroom/kit/testing/test-secret-box'
import { createKeptSecrets } from '../../src/accounts/kept-secrets.ts'
import type { Alert } from '../../src/alerts/alert.ts'
import { createDataLayer, type DataLayer } from '../../src/db/data-layer.ts'
import type { CreateSourceInput } from '../../src/db/sources.ts'
import { createIngest, type Ingest, type IngestOptions } from '../../src/ingest/ingest.ts'
import { ingestRoutes } from '../../src/ingest/routes.ts'
import type { Event } from '../../src/items/event.ts'
import type { Source } from '../../src/items/source.ts'
import { type Plan, planLimits } from '../../src/plans.ts'
import { firstSecret } from '../../src/signing/secret-list.ts'
import { allDue, layerOn, openWorkbench, required, type Workbench } from '../workbench.ts'

export const PUBLIC_URL = 'https://hooks.example.com'

const kept = createKeptSecrets(secretBox)

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
  layer: DataLayer,
  clock: TestClock,
  { trustedProxies = { hops: 0 }, ...given }: Given = {},
): Promise<Receiver> {
  const [lines, hinted, alerts]: [string[], string[], Alert[]] = [[], [], []]
  const log = createLog({ level: 'debug', sink: (line) => void lines.push(line) })
  const metrics = createMetrics()
  const http = { log, metrics, publicUrl: PUBLIC_URL, trustedProxies }
  const ingest = createIngest({
    ...http,
    db: layer,
    clock,
    secretBox,
    hint: (sourceId) => void hinted.push(sourceId),
    alerts: { raise: (alert) => void alerts.push(alert) },
    // Tests flush.
    later: () => {},
    ...given,
  })
  const { plainRootRoutes } = ingestRoutes(ingest)
  const routes = nodeRoutes(
    plainRootRoutes.map((route) => ({ ...route, service: 'ferryhook' })),
    http,
  )
  const server = createServer((request, response) => {
    if (!routes(request, response)) response.writeHead(404).end()
  })
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
  /** Another process on the same store, whose store may be a bad one. */
  another(given?: Given & { on?: Db }): Promise<Receiver>
  source(given?: SourceGiven): Promise<Source>
  /** The events of a source, newest first. */
  eventsOf(source: Pick<Source, 'sourceId'>): Promise<Event[]>
  bodyOf(event: Event): Promise<Buffer>
  /** The ids of events that wait to be routed. */
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
  const { layer, clock } = bench
  const receiver = await openReceiver(layer, clock, given)
  const others: Receiver[] = []
  return {
    ...bench,
    ...receiver,
    async another({ on, ...options } = {}) {
      const cursors = createCursors(new Uint8Array(32).fill(1))
      const db = on ? createDataLayer({ db: on, clock, cursors }) : layerOn(bench.db, clock)
      const other = await openReceiver(db, clock, options)
      others.push(other)
      return other
    },
    async source({ plan = 'team', secret, ...input } = {}) {
      const email = `owner-${users++}@example.com`
      const { userId } = await layer.users.create({ email, name: 'Ada', plan })
      const place = { userId, sourceId: newId('src'), ...input }
      const list = secret === undefined ? undefined : firstSecret(secret, clock.now())
      const signingSecret = list && (await kept.sealSourceSecrets(place, list))
      return layer.sources.create({
        name: 'Shop',
        provider: 'custom',
        ...place,
        ...(signingSecret !== undefined && { signingSecret }),
      })
    },
    eventsOf: async ({ sourceId }) => (await layer.events.listBySource(sourceId)).items,
    bodyOf: async (event) => Buffer.from(required(await layer.events.getBody(event))),
    async toBeRouted() {
      const due = await allDue(layer)
      return due.flatMap((task) => (task.kind === 'route' ? [task.eventId] : []))
    },
    async close() {
      for (const each of [receiver, ...others]) await each.close()
      await bench.close()
    },
  }
}

/** A source whose secrets are these from now on; to be told to whoever remembers it. */
export async function sealSecret(
  source: Pick<Source, 'sourceId' | 'userId'>,
  secret: string,
  now: number,
): Promise<string> {
  return kept.sealSourceSecrets(source, firstSecret(secret, now))
}

/** Limits as the plans have them, but some small enough to be reached. */
export const few = (plan: Plan, given: Partial<(typeof planLimits)[Plan]>) => ({
  limits: { ...planLimits, [plan]: { ...planLimits[plan], ...given } },
})
