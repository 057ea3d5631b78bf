// The HTTP face of the engine and other servers, all with their data on disk, called by a client so small
// that the server dominates the measurement. The baseline is an empty server.

import { type Case, CASE_TEXT, CASES } from '../cases.ts'
import { Sample } from '../data.ts'
import { caseRequests, createTableRequest, loadRequests } from '../http/requests.ts'
import { RawClient } from '../http/raw-client.ts'
import { cpuOf, measure } from '../measure.ts'
import type { Options } from '../options.ts'
import { inParallel } from '../parallel.ts'
import { type Target, limitTarget, mainTarget, rateTarget, type Result } from '../result.ts'
import {
  type Contender,
  cpuRatio,
  type Figures,
  measureInTurns,
  median,
  storeContender,
} from '../rounds.ts'
import { type RunningServer, type ServerName, startServer } from '../systems/servers.ts'
import type { WorkerProcess } from '../worker-process.ts'
import type { Workspace } from '../workspace.ts'

const ITEMS = 2000
const MAX_CONCURRENCY = 32
/** The compilers of Node and Java need some thousand calls of every case to settle. */
const WARM_UP_CALLS = 4000
const SERVERS: ServerName[] = [
  'engine-http',
  'null-server',
  'dynalite',
  'dynoxide',
  'dynamodb-local',
]
const TIMES_NULL = 2.5
const TIMES_FLOOR = 2
const MAIN: ReadonlySet<ServerName> = new Set<ServerName>(['dynalite', 'dynoxide'])
const TIMES: Partial<Record<ServerName, number>> = {
  dynalite: 2,
  dynoxide: 2,
  'dynamodb-local': 20,
}
/** Reads of one item have no targets, because every server is fast at them. */
const COMPARED: Case[] = ['put', 'update', 'query', 'transaction']

interface Measured {
  name: ServerName
  server: RunningServer
  client: RawClient
}

export async function httpSection(workspace: Workspace, options: Options): Promise<Result> {
  const title =
    'Servers with their data on disk, called by a minimal client; CPU time of the server only'
  const notes: string[] = []
  const measured: Measured[] = []
  const lmdb = await workspace.on('lmdb', ITEMS)
  try {
    for (const name of SERVERS) {
      // oxlint-disable-next-line no-await-in-loop -- one start at a time
      const started = await start(name, workspace.directory())
      if (started === undefined) notes.push(`${name}: not installed`)
      else measured.push(started)
    }
    const all = await measureAll(measured, lmdb, options)
    const figures = all.filter(({ system }) => system !== 'lmdb')
    return {
      title,
      figures,
      targets: targetsOf(all),
      notes: [...notes, ...floorNotes(all)],
      chart: {
        title: 'The engine and other servers over HTTP, data on disk, 32 concurrent calls',
        value: 'calls/s',
        scale: 'logarithmic',
        concurrency: MAX_CONCURRENCY,
      },
    }
  } finally {
    await lmdb.close()
    for (const { server, client } of measured) {
      client.close()
      // oxlint-disable-next-line no-await-in-loop
      await server.close()
    }
  }
}

async function start(name: ServerName, directory: string): Promise<Measured | undefined> {
  const server = await startServer(name, directory, 'disk')
  if (server === undefined) return undefined
  const client = await RawClient.open(server.port, MAX_CONCURRENCY)
  await client.send(createTableRequest())
  const requests = loadRequests(ITEMS)
  await inParallel(requests.length, 4, async (n) => {
    await client.send(requests[n]!)
  })
  return { name, server, client }
}

async function measureAll(
  measured: Measured[],
  lmdb: WorkerProcess,
  options: Options,
): Promise<Figures[]> {
  const requests = caseRequests(new Sample(ITEMS))
  const timing = { warmUpSeconds: 0.2, rounds: 5, seconds: options.seconds }
  const figures: Figures[] = []
  const ableTo = (what: Case) =>
    measured.filter(({ name }) => name !== 'dynalite' || what !== 'transaction')
  for (const what of CASES) {
    for (const { client } of ableTo(what)) {
      const call = (n: number) => client.send(requests[what][n % requests[what].length]!)
      // oxlint-disable-next-line no-await-in-loop -- one server after the other
      await inParallel(WARM_UP_CALLS, MAX_CONCURRENCY, async (n) => void (await call(n)))
    }
  }
  for (const what of CASES) {
    const able = ableTo(what)
    for (const concurrency of [1, MAX_CONCURRENCY]) {
      const servers = able.map((each) => contender(each, requests[what]))
      const store = storeContender(lmdb, what)
      const contenders = [...servers, store]
      // oxlint-disable-next-line no-await-in-loop -- one case after the other
      figures.push(...(await measureInTurns(contenders, CASE_TEXT[what], concurrency, timing)))
    }
  }
  return figures
}

function contender({ name, server, client }: Measured, requests: Buffer[]): Contender {
  let next = 0
  return {
    name,
    async measure(concurrency, milliseconds) {
      const before = cpuOf([server.pid])
      const call = () => client.send(requests[next++ % requests.length]!)
      const result = await measure(call, concurrency, milliseconds)
      return { ...result, cpuMs: cpuOf([server.pid]) - before }
    },
  }
}

function figuresOf(
  figures: readonly Figures[],
  system: ServerName | 'lmdb',
  what: Case,
): Figures | undefined {
  return figures.find(
    (found) =>
      found.system === system &&
      found.what === CASE_TEXT[what] &&
      found.concurrency === MAX_CONCURRENCY,
  )
}

/** Compares with the baselines: HTTP without a store, and raw lmdb without HTTP. */
function floorNotes(figures: readonly Figures[]): string[] {
  return CASES.flatMap((what) => {
    const floor = floorOf(figures, what)
    if (floor === undefined) return []
    const { cost, together } = floor
    return `${CASE_TEXT[what]} @${MAX_CONCURRENCY}: ${cost.toFixed(0)} µs of CPU; an empty server and raw lmdb together ${together.toFixed(0)} µs (${(cost / together).toFixed(1)} ×)`
  })
}

/** CPU time of a call in microseconds: of the engine, and of an empty server and raw lmdb together. */
function floorOf(figures: readonly Figures[], what: Case) {
  const [engine, nothing, lmdb] = (['engine-http', 'null-server', 'lmdb'] as const).map((system) =>
    figuresOf(figures, system, what),
  )
  if (!engine || !nothing || !lmdb) return undefined
  return { cost: median(engine.cpu), together: median(nothing.cpu) + median(lmdb.cpu) }
}

function targetsOf(figures: readonly Figures[]): Target[] {
  const of = (system: ServerName | 'lmdb', what: Case) => figuresOf(figures, system, what)
  const targets: Target[] = []
  const query = floorOf(figures, 'query')
  if (query !== undefined) {
    const text = `engine over HTTP, ${CASE_TEXT.query} @${MAX_CONCURRENCY}, CPU relative to an empty server and raw lmdb`
    targets.push(mainTarget(limitTarget(text, query.cost / query.together, TIMES_FLOOR, '×')))
  }
  for (const what of CASES) {
    const [engine, floor] = [of('engine-http', what), of('null-server', what)]
    if (engine === undefined || floor === undefined) continue
    const text = `${CASE_TEXT[what]} @${MAX_CONCURRENCY}, server CPU, relative to an empty server`
    targets.push(limitTarget(text, cpuRatio(floor, engine), TIMES_NULL, '×'))
  }
  for (const [name, times] of Object.entries(TIMES) as [ServerName, number][]) {
    for (const what of COMPARED) {
      const [engine, other] = [of('engine-http', what), of(name, what)]
      if (engine === undefined || other === undefined) continue
      const text = `${CASE_TEXT[what]} @${MAX_CONCURRENCY} over HTTP, times ${name}'s rate`
      const target = rateTarget(text, [engine, other], times, '×')
      targets.push(MAIN.has(name) ? mainTarget(target) : target)
    }
  }
  return targets
}
