// Ferryhook under more load than it can take: a server on one core, an open-loop generator on the other.

import { setInterval } from 'node:timers'
import { fileURLToPath } from 'node:url'
import { createTables, signUp, startServer } from '../ferryhook/servers.ts'
import { ServerProcess } from '../http/server-process.ts'
import { anonymousMb } from '../memory.ts'
import type { Options } from '../options.ts'
import { GENERATOR_CORE, pinningProblem, SERVER_CORE } from '../overload/cores.ts'
import type { Load, LoadOrder } from '../overload/generator.ts'
import { Generator } from '../overload/generator-process.ts'
import { whole } from '../report.ts'
import { leastTarget, limitTarget, mainTarget, type Result, type Target } from '../result.ts'
import type { Workspace } from '../workspace.ts'

const TITLE = 'Ferryhook under overload: a server on one core, an open-loop generator on another'
const CONNECTIONS = 64
/** Fewer than a server accepts. */
const MAX_CONNECTIONS = 1000
const TIMES = [2, 5] as const

const MAX_P99_TIMES = 5
const MAX_REFUSAL_MS = 100
const MIN_THROUGHPUT_PERCENT = 90
const MAX_MEMORY_MB = 300

/** A generator that is later than this, or offers less, says nothing about the server. */
const MAX_LAG_MS = 20
const MIN_OFFERED = 0.97
const ATTEMPTS = 3
const MEMORY_INTERVAL_MS = 250

const SLOW_STORE = fileURLToPath(new URL('overload/slow-store.js', import.meta.url))

interface Measured {
  load: Load
  /** The highest anonymous memory of the server. */
  memoryMb: number | undefined
}

interface Overload extends Measured {
  times: number
  /** Runs in which the generator lagged. */
  voided: number
}

interface Findings {
  saturation: Measured
  overloads: Overload[]
  isStoreSlow: boolean
}

export async function overloadSection(workspace: Workspace, options: Options): Promise<Result> {
  const problem = pinningProblem()
  if (problem !== undefined) return { title: TITLE, figures: [], targets: [], notes: [problem] }
  const found = await measureAll(workspace, options)
  const slowed = found ?? (await measureAll(workspace, options, { isStoreSlow: true }))
  if (slowed === undefined) {
    const note = `not measured: the generator lagged in each of ${ATTEMPTS} runs, also with a slow store. Stop other programs`
    return { title: TITLE, figures: [], targets: [], notes: [note] }
  }
  return resultOf(slowed)
}

/** Undefined if the generator cannot offer the load. */
async function measureAll(
  workspace: Workspace,
  options: Options,
  { isStoreSlow = false } = {},
): Promise<Findings | undefined> {
  const directory = workspace.directory()
  const core = SERVER_CORE
  const store = isStoreSlow
    ? await ServerProcess.start([SLOW_STORE, workspace.directory()], { core })
    : undefined
  if (store !== undefined) createTables(directory, store.url)
  const server = await startServer(directory, { delivers: false, core, endpoint: store?.url })
  const path = await (await signUp(server.url)).source()
  const generator = await Generator.start(server.url, path, GENERATOR_CORE)
  const seconds = Math.max(4, 8 * options.seconds)
  const run = (order: Omit<LoadOrder, 'seconds' | 'rampSeconds'>) =>
    withMemory(server.pid, () => generator.run({ ...order, seconds, rampSeconds: seconds / 4 }))
  try {
    // The first lets compilers settle.
    await run({ connections: CONNECTIONS })
    const saturation = await run({ connections: CONNECTIONS })
    const overloads: Overload[] = []
    for (const times of TIMES) {
      const rate = times * saturation.load.accepted
      // oxlint-disable-next-line no-await-in-loop -- one load after the other
      const overload = await measureOverload(
        () => run({ rate, connections: MAX_CONNECTIONS }),
        rate,
      )
      if (overload === undefined) return undefined
      overloads.push({ ...overload, times })
    }
    return { saturation, overloads, isStoreSlow }
  } finally {
    await generator.close()
    await server.close()
    await store?.close()
  }
}

/** Repeats it while the generator lags; undefined if it always does. */
async function measureOverload(
  run: () => Promise<Measured>,
  rate: number,
): Promise<Omit<Overload, 'times'> | undefined> {
  for (let voided = 0; voided < ATTEMPTS; voided++) {
    // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
    const measured = await run()
    const { lagP99, offered } = measured.load
    if (lagP99 <= MAX_LAG_MS && offered >= MIN_OFFERED * rate) return { ...measured, voided }
  }
  return undefined
}

async function withMemory(pid: number, run: () => Promise<Load>): Promise<Measured> {
  let memoryMb = anonymousMb(pid)
  const timer = setInterval(() => {
    memoryMb = Math.max(memoryMb ?? 0, anonymousMb(pid) ?? 0)
  }, MEMORY_INTERVAL_MS)
  try {
    return { load: await run(), memoryMb }
  } finally {
    clearInterval(timer)
  }
}

function resultOf({ saturation, overloads, isStoreSlow }: Findings): Result {
  const worst = overloads.at(-1)!
  const { refusedP99 } = worst.load
  return {
    title: TITLE,
    figures: [],
    targets: overloads.flatMap((each) => targetsOf(saturation.load, each)).map(mainTarget),
    notes: [
      ...(isStoreSlow
        ? [
            'the generator could not offer five times what the server takes, so the store was slowed by 2 ms per commit',
          ]
        : []),
      `saturation (closed loop, ${CONNECTIONS} connections): ${whole(saturation.load.accepted)} requests/s, p50 ${saturation.load.acceptedP50.toFixed(1)} ms, p99 ${saturation.load.acceptedP99.toFixed(1)} ms, ${memoryText(saturation)}`,
      ...overloads.map(noteOf),
    ],
    expectations: {
      saturationPerSecond: saturation.load.accepted,
      overloadP99Ms: worst.load.acceptedP99,
      ...(refusedP99 !== undefined && { refusalP99Ms: refusedP99 }),
    },
  }
}

function targetsOf(saturation: Load, { times, load, memoryMb }: Overload): Target[] {
  const at = `overload of ${times} ×`
  const p99Times = load.acceptedP99 / saturation.acceptedP99
  const throughput = (100 * load.accepted) / saturation.accepted
  const targets = [
    limitTarget(`${at}, p99 of accepted relative to saturation`, p99Times, MAX_P99_TIMES, '×'),
    limitTarget(
      `${at}, refused without 503 and Retry-After, or unanswered`,
      load.withoutRetryAfter + load.unexpected + load.unanswered,
      0,
      'requests',
    ),
    // If nothing is refused, those that are too many wait for ever.
    limitTarget(`${at}, time to refusal, p99`, load.refusedP99 ?? Infinity, MAX_REFUSAL_MS, 'ms'),
    leastTarget(
      `${at}, accepted throughput relative to saturation`,
      throughput,
      MIN_THROUGHPUT_PERCENT,
      '%',
    ),
  ]
  if (memoryMb !== undefined) {
    targets.push(limitTarget(`${at}, anonymous memory`, memoryMb, MAX_MEMORY_MB, 'MB'))
  }
  return targets
}

function noteOf({ times, load, memoryMb, voided }: Overload): string {
  return [
    `${times} ×: offered ${whole(load.offered)}/s, accepted ${whole(load.accepted)}/s, refused ${whole(load.refused)}/s`,
    `accepted p50 ${load.acceptedP50.toFixed(1)} ms, p99 ${load.acceptedP99.toFixed(1)} ms`,
    load.refusedP99 === undefined
      ? 'nothing refused'
      : `refused p99 ${load.refusedP99.toFixed(1)} ms, ${load.withoutRetryAfter} without Retry-After`,
    `${load.unanswered} unanswered, ${load.unexpected} other responses`,
    memoryText({ memoryMb }),
    `generator late by ${load.lagP99.toFixed(1)} ms (p99)${voided > 0 ? `, ${voided} runs void because it lagged` : ''}`,
  ].join('; ')
}

function memoryText({ memoryMb }: Pick<Measured, 'memoryMb'>): string {
  return `${memoryMb?.toFixed(0) ?? 'unknown'} MB of anonymous memory`
}
