// What stored events cost: receiving, delivering and starting with many delivered events compared with an
// empty store, and their size on disk.

import { signUp, startServer } from '../ferryhook/servers.ts'
import { Sink } from '../ferryhook/sink.ts'
import { webhook } from '../ferryhook/webhook.ts'
import { filledDirectory } from '../fill/cache.ts'
import { Caller } from '../http/call.ts'
import type { ServerProcess } from '../http/server-process.ts'
import { cpuOf } from '../measure.ts'
import type { Options } from '../options.ts'
import { inParallel } from '../parallel.ts'
import { limitTarget, mainTarget, type Result } from '../result.ts'
import { type Contender, cpuRatio, type Figures, measureInTurns, median, pair } from '../rounds.ts'
import { measureStart, SERVE, startOnce } from './start.ts'
import type { Workspace } from '../workspace.ts'

const CONNECTIONS = 64
const SOURCES = 4
const ROUNDS = 5
/** Much code has to be compiled before its cost is that of a server that runs for long. */
const WARM_UP_ROUNDS = 6
const PER_SECOND = 6000
const STARTS = 7

const MAX_COST_TIMES = 1.3
const MAX_KILOBYTES_PER_EVENT = 6
const MAX_MORE_START_MS = 100

export async function storedEventsSection(workspace: Workspace, options: Options): Promise<Result> {
  const { events } = options
  const filled = await filledDirectory(events)
  const directories = [workspace.directory(), await workspace.copyOf(filled.directory)] as const
  const stored = `${events.toLocaleString('en')} stored events`
  const names = ['empty store', stored] as const
  const received = await measureBoth(directories, names, options, { delivers: false })
  const delivered = await measureBoth(directories, names, options, { delivers: true })
  const starts = await measureStarts(directories)
  const kilobytes = filled.bytesPerEvent / 1000
  return {
    title: `Ferryhook with ${stored}, all delivered, and with an empty store`,
    figures: [...received, ...delivered],
    targets: [
      costTarget(`ingest with ${stored}, CPU relative to an empty store`, received),
      costTarget(`ingest and delivery with ${stored}, CPU relative to an empty store`, delivered),
      limitTarget(
        `file of the store, per delivered event, ${stored}`,
        kilobytes,
        MAX_KILOBYTES_PER_EVENT,
        'KB',
      ),
      limitTarget(
        `strongroom serve, second start with ${stored}, more than with an empty store`,
        starts.filled - starts.empty,
        MAX_MORE_START_MS,
        'ms',
      ),
    ].map(mainTarget),
    notes: [
      `second start to /readyz: ${starts.empty.toFixed(0)} ms with an empty store, ${starts.filled.toFixed(0)} ms with ${stored}`,
    ],
    expectations: { kilobytesPerEvent: kilobytes },
  }
}

function costTarget(text: string, figures: readonly Figures[]) {
  const [empty, filled] = pair(figures)
  return limitTarget(text, cpuRatio(empty, filled), MAX_COST_TIMES, '×')
}

/** In turns with both directories; the servers only receive, or also deliver. */
async function measureBoth(
  directories: readonly string[],
  names: readonly string[],
  options: Options,
  { delivers }: { delivers: boolean },
): Promise<Figures[]> {
  const sink = await Sink.open()
  const servers: ServerProcess[] = []
  const callers: Caller[] = []
  const contenders: Contender[] = []
  const count = Math.max(200, Math.round((PER_SECOND * options.seconds) / ROUNDS))
  for (const [at, directory] of directories.entries()) {
    // oxlint-disable-next-line no-await-in-loop -- one start at a time
    const server = await startServer(directory, { delivers })
    servers.push(server)
    // oxlint-disable-next-line no-await-in-loop
    const account = await signUp(server.url, `${crypto.randomUUID()}@example.com`)
    const paths: string[] = []
    for (let n = 0; n < SOURCES; n++) {
      // oxlint-disable-next-line no-await-in-loop
      paths.push(await account.source(...(delivers ? [sink.url] : [])))
    }
    const caller = new Caller(server.url, CONNECTIONS)
    callers.push(caller)
    const send = () => sendAll(caller, paths, count)
    contenders.push({
      name: names[at]!,
      async measure() {
        sink.forget()
        const before = cpuOf([server.pid])
        const start = performance.now()
        await Promise.all([send(), delivers ? sink.until(count) : undefined])
        const wallMs = performance.now() - start
        return { calls: count, wallMs, cpuMs: cpuOf([server.pid]) - before }
      },
    })
  }
  const timing = { warmUpSeconds: 0, warmUpRounds: WARM_UP_ROUNDS, rounds: ROUNDS }
  const what = delivers ? 'ingest and delivery 1 KB' : 'ingest 1 KB'
  try {
    return await measureInTurns(contenders, what, CONNECTIONS, { ...timing, seconds: 0 })
  } finally {
    for (const caller of callers) caller.close()
    // oxlint-disable-next-line no-await-in-loop
    for (const server of servers) await server.close()
    sink.close()
  }
}

async function sendAll(caller: Caller, paths: readonly string[], count: number): Promise<void> {
  await inParallel(count, CONNECTIONS, async (number) => {
    const path = paths[number % paths.length]!
    const { status } = await caller.post({ path, body: webhook(number) })
    if (status !== 200) throw new Error(`Ferryhook responded with ${status}`)
  })
}

/** Medians in milliseconds, in turns. */
async function measureStarts([empty, filled]: readonly [string, string]) {
  const times = { empty: [] as number[], filled: [] as number[] }
  // The first start with all services creates their tables.
  await startOnce(empty)
  await startOnce(filled)
  for (let n = 0; n < STARTS; n++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    times.empty.push((await measureStart(SERVE, empty)).ms)
    // oxlint-disable-next-line no-await-in-loop
    times.filled.push((await measureStart(SERVE, filled)).ms)
  }
  return { empty: median(times.empty), filled: median(times.filled) }
}
