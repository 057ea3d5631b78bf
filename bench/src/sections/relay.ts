// Ferryhook compared with the relay that a team writes itself with Fastify, BullMQ and Redis: work per CPU
// second of all processes of either side, both durable.

import { setTimeout } from 'node:timers/promises'
import {
  continueWorker,
  deliveries,
  type DeliverySystem,
  stopWorker,
} from '../ferryhook/delivery.ts'
import { startRelay } from '../ferryhook/relay-processes.ts'
import { type Destination, signUp, startServer, startWorker } from '../ferryhook/servers.ts'
import { Sink } from '../ferryhook/sink.ts'
import { webhook } from '../ferryhook/webhook.ts'
import { Caller } from '../http/call.ts'
import { expectStatus, operations } from '../http/operations.ts'
import { hasRedis, NO_REDIS } from '../http/redis.ts'
import { anonymousMb } from '../memory.ts'
import type { Options } from '../options.ts'
import { inParallel } from '../parallel.ts'
import { cpuTarget, limitTarget, mainTarget, type Result } from '../result.ts'
import { cpuRatio, type Figures, measureInTurns, pair, type Timing } from '../rounds.ts'
import type { Workspace } from '../workspace.ts'

const CONNECTIONS = 64
const ROUNDS = 9
/** Requests and deliveries of each system until its code is compiled. */
const WARM_UP = 10_000
const PER_SECOND = 8000
const MIN_PER_ROUND = 300
/** After these deliveries the memory of a worker is measured; fewer with less than a second. */
const MEMORY_DELIVERIES = 100_000
const MAX_MEMORY_MB = 200
/** Until the outcome of the last delivery is stored. */
const SETTLE_MS = 200
/** The relay ignores it. */
const RELAY_PATH = '/in/src_bench'

const FILTERS = [
  { path: '$.type', operator: 'equals', value: 'payment_intent.succeeded' },
  { path: '$.livemode', operator: 'equals', value: false },
  { path: '$.data.object.amount', operator: 'gte', value: 100 },
  { path: '$.data.object.currency', operator: 'in', value: ['eur', 'usd'] },
  { path: '$.data.object.metadata.order', operator: 'starts_with', value: 'A-' },
]
const FIELD_MAP = {
  type: 'field_map',
  rules: [
    { from: '$.number', to: '$.number' },
    { from: '$.type', to: '$.kind' },
    { from: '$.data.object.id', to: '$.payment.id' },
    { from: '$.data.object.amount', to: '$.payment.amount' },
    { from: '$.data.object.metadata.order', to: '$.order' },
    { from: '$.data.object.description', to: '$.text' },
  ],
}

export async function relaySection(workspace: Workspace, options: Options): Promise<Result> {
  const title = 'Ferryhook, and a relay of Fastify, BullMQ and Redis, both durable on disk'
  if (!hasRedis()) return { title, figures: [], targets: [], notes: [NO_REDIS] }
  const ingest = await measureIngest(workspace, options)
  const delivery = await measureDelivery(workspace, options)
  const both = await measureBoth(workspace, options)
  const [plain, relay, mapped] = delivery.figures
  if (!plain || !relay || !mapped) throw new Error('All three systems must be measured')
  return {
    title,
    figures: [...ingest, ...delivery.figures, ...both],
    targets: [
      cpuTarget('Ferryhook, ingest of 1 KB per CPU second, times the relay', pair(ingest), 1.5),
      cpuTarget('Ferryhook, deliveries per CPU second, times the relay', [plain, relay], 1.5),
      cpuTarget(
        'Ferryhook, deliveries with five conditions and a field map, times the relay without',
        [mapped, relay],
        1.2,
      ),
      ...delivery.memory,
    ].map(mainTarget),
    notes: [
      `receiving and delivering in one server per CPU second: ${cpuRatio(...pair(both)).toFixed(2)} times the relay`,
      ...delivery.notes,
    ],
    chart: {
      title: 'Webhooks per CPU second: Ferryhook, and a relay of Fastify, BullMQ and Redis',
      value: 'calls per CPU second',
      scale: 'linear',
    },
  }
}

function roundsOf({ seconds }: Options): { count: number; timing: Timing } {
  const count = Math.max(MIN_PER_ROUND, Math.round((PER_SECOND * seconds) / ROUNDS))
  const warmUpRounds = Math.ceil(WARM_UP / count)
  return { count, timing: { warmUpSeconds: 0, warmUpRounds, rounds: ROUNDS, seconds } }
}

async function measureIngest(workspace: Workspace, options: Options): Promise<Figures[]> {
  const { count, timing } = roundsOf(options)
  const server = await startServer(workspace.directory(), { delivers: false })
  const relay = await startRelay(workspace.directory())
  const path = await (await signUp(server.url)).source()
  const ours = sender(server.url, path)
  const theirs = sender(relay.url, RELAY_PATH)
  const round = { connections: CONNECTIONS, count }
  const figures = await measureInTurns(
    [
      operations('ferryhook', { ...round, processes: [server.pid], operate: ours.send }),
      operations('relay', { ...round, processes: relay.processes, operate: theirs.send }),
    ],
    'ingest 1 KB',
    CONNECTIONS,
    timing,
  )
  ours.close()
  theirs.close()
  await server.close()
  await relay.close()
  return figures
}

/** Three systems with a full queue each; only one delivers at a time. */
async function measureDelivery(workspace: Workspace, options: Options) {
  const { count, timing } = roundsOf(options)
  // One more round, so that no queue runs empty.
  const queued = count * ((timing.warmUpRounds ?? 0) + ROUNDS + 1)
  const rules = { filters: FILTERS, transform: FIELD_MAP }
  // All queues are filled before a worker starts: a worker that is stopped for long would lose its leases.
  const starts = [
    await fillFerryhook('ferryhook', workspace.directory(), queued),
    await fillRelay(workspace.directory(), queued),
    await fillFerryhook('ferryhook, filter and map', workspace.directory(), queued, rules),
  ] as const
  const [plain, relay, mapped] = [await starts[0](), await starts[1](), await starts[2]()]
  const systems = [plain, relay, mapped]
  const contenders = systems.map((system) => deliveries(system, count))
  const figures = await measureInTurns(contenders, 'deliver 1 KB', 1, timing)
  for (const system of systems) continueWorker(system)
  await Promise.all(systems.map(({ sink }) => sink.until(queued)))
  await mapped.close()

  const total = Math.max(queued, Math.round(MEMORY_DELIVERIES * Math.min(1, options.seconds)))
  const ours = await memoryAfter(plain, total - queued)
  const theirs = await memoryAfter(relay, total - queued)
  const after = `after ${total.toLocaleString('en')} deliveries`
  return {
    figures,
    memory: [
      limitTarget(`Ferryhook, anonymous memory of the worker ${after}`, ours, MAX_MEMORY_MB, 'MB'),
    ],
    notes: [
      `anonymous memory of the relay's worker ${after}: ${theirs.toFixed(0)} MB, without its Redis`,
      ...systems
        .filter(({ sink }) => sink.repeats > 0)
        .map(({ name, sink }) => `${name} delivered ${sink.repeats} events twice`),
    ],
  }
}

/** In megabytes, after this many more deliveries. Ends the system. */
async function memoryAfter(system: QueuedSystem, more: number): Promise<number> {
  const total = system.sink.count + more
  await system.fill(more)
  await system.sink.until(total)
  await setTimeout(SETTLE_MS)
  const memory = anonymousMb(system.worker) ?? Number.NaN
  await system.close()
  return memory
}

interface QueuedSystem extends DeliverySystem {
  /** Sends it more events. */
  fill(count: number): Promise<void>
  close(): Promise<void>
}

/** Starts the worker of a system with a full queue, and stops it until it is measured. */
type StartWorker = () => Promise<QueuedSystem>

async function fillFerryhook(
  name: string,
  directory: string,
  queued: number,
  connection: Omit<Destination, 'destinationUrl'> = {},
): Promise<StartWorker> {
  const sink = await Sink.open()
  const server = await startServer(directory, { delivers: false })
  const account = await signUp(server.url)
  const path = await account.source({ destinationUrl: sink.url, ...connection })
  const events = sender(server.url, path)
  await events.fill(queued)
  return async () => {
    const worker = await startWorker(directory)
    const system = { name, sink, worker: worker.pid, processes: [server.pid, worker.pid] }
    return stopped(system, events, [worker, server])
  }
}

async function fillRelay(directory: string, queued: number): Promise<StartWorker> {
  const sink = await Sink.open()
  const relay = await startRelay(directory)
  const events = sender(relay.url, RELAY_PATH)
  await events.fill(queued)
  return async () => {
    const worker = await relay.startWorker(sink.url)
    const processes = [...relay.processes, worker.pid]
    const system = { name: 'relay', sink, worker: worker.pid, processes }
    return stopped(system, events, [worker, relay])
  }
}

/** Stops the worker; `started` is closed with the system, in this order. */
function stopped(
  system: DeliverySystem,
  events: ReturnType<typeof sender>,
  started: readonly { close(): Promise<void> }[],
): QueuedSystem {
  stopWorker(system)
  return {
    ...system,
    fill: events.fill,
    async close() {
      events.close()
      for (const each of started) await each.close()
      system.sink.close()
    },
  }
}

/** One server that receives and delivers, and the processes of the relay. */
async function measureBoth(workspace: Workspace, options: Options): Promise<Figures[]> {
  const { count, timing } = roundsOf(options)
  const ourSink = await Sink.open()
  const server = await startServer(workspace.directory(), { delivers: true })
  const ours = sender(server.url, await (await signUp(server.url)).source(ourSink.url))
  const theirSink = await Sink.open()
  const relay = await startRelay(workspace.directory())
  const worker = await relay.startWorker(theirSink.url)
  const theirs = sender(relay.url, RELAY_PATH)
  const round = { connections: CONNECTIONS, count, settleMs: SETTLE_MS }
  const figures = await measureInTurns(
    [
      operations('ferryhook', {
        ...round,
        processes: [server.pid],
        operate: ours.send,
        complete: () => ourSink.until(ours.sent()),
      }),
      operations('relay', {
        ...round,
        processes: [...relay.processes, worker.pid],
        operate: theirs.send,
        complete: () => theirSink.until(theirs.sent()),
      }),
    ],
    'receive and deliver 1 KB',
    CONNECTIONS,
    timing,
  )
  ours.close()
  theirs.close()
  await server.close()
  await worker.close()
  await relay.close()
  ourSink.close()
  theirSink.close()
  return figures
}

/** Sends events with consecutive numbers. */
function sender(url: string, path: string) {
  const caller = new Caller(url, CONNECTIONS)
  let number = 0
  const send = () => expectStatus(200, caller.post({ path, body: webhook(number++) }))
  return {
    send,
    sent: () => number,
    async fill(count: number): Promise<void> {
      await inParallel(count, CONNECTIONS, async () => {
        await send()
      })
    },
    close: () => caller.close(),
  }
}
