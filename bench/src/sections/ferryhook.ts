// Ferryhook as `strongroom serve` and `strongroom worker` run it, durable on disk: ingest compared with a
// bare server that stores nothing, deliveries and latency.

import { mkdirSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { latencyChart } from '../ferryhook/chart.ts'
import { idleLatency, type Latency, latencyAt, percentile } from '../ferryhook/latency.ts'
import { signUp, startServer, startWorker } from '../ferryhook/servers.ts'
import { Sink } from '../ferryhook/sink.ts'
import { webhook } from '../ferryhook/webhook.ts'
import { Caller } from '../http/call.ts'
import { contender } from '../http/contender.ts'
import { ServerProcess } from '../http/server-process.ts'
import { cpuOf } from '../measure.ts'
import { anonymousMb } from '../memory.ts'
import type { Options } from '../options.ts'
import { inParallel } from '../parallel.ts'
import { machine } from '../report.ts'
import { cpuTarget, leastTarget, limitTarget, type Result } from '../result.ts'
import { type Figures, measureInTurns, median, pair } from '../rounds.ts'
import type { Workspace } from '../workspace.ts'

const CONNECTIONS = 64
const ROUNDS = 7
/** The compiler needs some thousand requests to settle. */
const WARM_UP_ROUNDS = 6
const PER_SECOND = 8000
/** Delivering an event involves much code, which needs this many events to be fully compiled. */
const WORKER_WARM_UP = 10_000
const RATES = [50, 100, 200, 400]
const IDLE_EVENTS = 100

const BARE = fileURLToPath(new URL('http/bare-receiver.js', import.meta.url))
const CHART = fileURLToPath(new URL('../../docs/images/ferryhook-latency.svg', import.meta.url))

export async function ferryhookSection(workspace: Workspace, options: Options): Promise<Result> {
  const ingest = await measureIngest(workspace, options)
  const { deliveries, memoryMb } = await measureWorker(workspace, options)
  const both = await measureServer(workspace, options)
  const { idle, loaded } = await measureLatency(workspace, options)
  return {
    title: 'Ferryhook, durable on disk, and a bare server that stores nothing',
    figures: ingest,
    targets: [
      cpuTarget(
        'Ferryhook, ingest per CPU second, share of the bare server',
        pair(ingest),
        50,
        '%',
      ),
      leastTarget('Ferryhook, deliveries per CPU second of the worker', deliveries, 2000, 'calls'),
      limitTarget(
        'Ferryhook, latency from ingest to delivery when idle, p50',
        percentile(idle, 50),
        10,
        'ms',
      ),
    ],
    notes: [
      `an event received and delivered by one server: ${both.toFixed(0)} µs of CPU`,
      `anonymous memory of the worker after its deliveries: ${memoryMb?.toFixed(0) ?? 'unknown'} MB`,
      ...loaded.map(
        ({ rate, p50, p99 }) =>
          `latency from ingest to delivery at ${rate} events/s: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
      ),
    ],
    expectations: {
      webhooksReceivedPerCpuSecond: 1_000_000 / median(pair(ingest)[0].cpu),
      webhooksReceivedAndDeliveredPerCpuSecond: 1_000_000 / both,
    },
  }
}

/** In turns with the bare server. */
async function measureIngest(workspace: Workspace, options: Options): Promise<Figures[]> {
  const server = await startServer(workspace.directory(), { delivers: false })
  const bare = await ServerProcess.start([BARE])
  const [caller, bareCaller] = [server, bare].map(({ url }) => new Caller(url, CONNECTIONS))
  if (!caller || !bareCaller) throw new Error('There is no server to call')
  const path = await (await signUp(server.url)).source()
  const count = Math.max(100, Math.round((PER_SECOND * options.seconds) / ROUNDS))
  const calls = Array.from({ length: count }, (_, number) => ({ path, body: webhook(number) }))
  const timing = {
    warmUpSeconds: 0,
    warmUpRounds: WARM_UP_ROUNDS,
    rounds: ROUNDS,
    seconds: options.seconds,
  }
  const ours = contender('ferryhook', server, CONNECTIONS, (measured) =>
    measured(caller, calls, 200),
  )
  const theirs = contender('bare', bare, CONNECTIONS, (measured) =>
    measured(bareCaller, calls, 200),
  )
  const figures = await measureInTurns([ours, theirs], 'ingest 1 KB', CONNECTIONS, timing)
  caller.close()
  bareCaller.close()
  await server.close()
  await bare.close()
  return figures
}

/** Deliveries of a worker from a full queue, counted after a warm-up. */
async function measureWorker(workspace: Workspace, options: Options) {
  const directory = workspace.directory()
  const sink = await Sink.open()
  const server = await startServer(directory, { delivers: false })
  const account = await signUp(server.url)
  const paths = await Promise.all(Array.from({ length: 4 }, () => account.source(sink.url)))
  const caller = new Caller(server.url, CONNECTIONS)
  const count = WORKER_WARM_UP + Math.max(400, Math.round(6000 * options.seconds))
  await inParallel(count, CONNECTIONS, async (number) => {
    const path = paths[number % paths.length]!
    const { status } = await caller.post({ path, body: webhook(number) })
    if (status !== 200) throw new Error(`Ferryhook responded with ${status}`)
  })
  caller.close()
  await server.close()
  const worker = await startWorker(directory)
  await sink.until(WORKER_WARM_UP)
  const before = cpuOf([worker.pid])
  await sink.until(count)
  const cpuMs = cpuOf([worker.pid]) - before
  const memoryMb = anonymousMb(worker.pid)
  await worker.close()
  sink.close()
  return { deliveries: ((count - WORKER_WARM_UP) * 1000) / cpuMs, memoryMb }
}

/** CPU time in microseconds for an event that one server receives and delivers, after a warm-up. */
async function measureServer(workspace: Workspace, options: Options): Promise<number> {
  const sink = await Sink.open()
  const server = await startServer(workspace.directory(), { delivers: true })
  const account = await signUp(server.url)
  const paths = await Promise.all(Array.from({ length: 4 }, () => account.source(sink.url)))
  const caller = new Caller(server.url, CONNECTIONS)
  const count = Math.max(400, Math.round(6000 * options.seconds))
  const send = async (from: number, to: number) => {
    await inParallel(to - from, CONNECTIONS, async (number) => {
      const path = paths[number % paths.length]!
      const { status } = await caller.post({ path, body: webhook(from + number) })
      if (status !== 200) throw new Error(`Ferryhook responded with ${status}`)
    })
    await sink.until(to)
  }
  await send(0, WORKER_WARM_UP)
  const before = cpuOf([server.pid])
  await send(WORKER_WARM_UP, WORKER_WARM_UP + count)
  const cpuMs = cpuOf([server.pid]) - before
  caller.close()
  await server.close()
  sink.close()
  return (cpuMs * 1000) / count
}

async function measureLatency(workspace: Workspace, options: Options) {
  const sink = await Sink.open()
  const server = await startServer(workspace.directory(), { delivers: true })
  const path = await (await signUp(server.url)).source(sink.url)
  const caller = new Caller(server.url, CONNECTIONS)
  const way = { caller, path, sink }
  await latencyAt(way, 200, Math.max(1, options.seconds))
  const idle = await idleLatency(way, IDLE_EVENTS)
  const loaded: Latency[] = []
  // oxlint-disable-next-line no-await-in-loop -- one rate after the other
  for (const rate of RATES)
    loaded.push(await latencyAt(way, rate, Math.max(1, 3 * options.seconds)))
  caller.close()
  await server.close()
  sink.close()
  if (options.write) writeChart(loaded)
  return { idle, loaded }
}

function writeChart(measured: readonly Latency[]): void {
  const [load = 0] = loadavg()
  const subtitle = `durable on disk, one server; ${machine()}, load ${load.toFixed(0)}`
  mkdirSync(dirname(CHART), { recursive: true })
  writeFileSync(CHART, latencyChart(measured, subtitle))
}
