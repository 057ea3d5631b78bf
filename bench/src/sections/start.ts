// What people wait for: the start of a server, short commands, and what an idle server costs.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../free-port.ts'
import { cpuOf } from '../measure.ts'
import { anonymousMb } from '../memory.ts'
import { type Expectations, limitTarget, mainTarget, type Result, type Target } from '../result.ts'
import { median } from '../rounds.ts'
import type { Workspace } from '../workspace.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const STRONGROOM = join(ROOT, 'dist/strongroom.js')

const TIMES = 9
/** A first start saves its compiled code after three seconds. */
const FIRST_START_MS = 5_000
/** Until a server has finished what follows a start, then the time over which it is measured. */
const SETTLE_MS = 15_000
const IDLE_MS = 40_000

export const SERVE = [process.execPath, STRONGROOM, 'serve']
const NPM_START = ['npm', 'start', '--']

const COMMANDS = [
  ['sources', 'list'],
  ['sites', 'list'],
  ['seal', '--help'],
] as const

const options = { cwd: ROOT, stdio: 'ignore' } as const

interface Start {
  ms: number
  /** Of the process that listens, where it is the one that was started. */
  cpuMs?: number
}

export async function startSection(workspace: Workspace): Promise<Result> {
  const data = workspace.directory()
  await startOnce(data)
  const serve = await repeat(async () => measureStart(SERVE, data))
  const npm = await repeat(async () => measureStart(NPM_START, data))
  const commands = await measureCommands()
  const idle = await measureIdle(data)
  return {
    title: 'Starting, short commands and an idle server',
    figures: [],
    targets: [
      limitTarget('strongroom serve, second start to /readyz', wall(serve), 350, 'ms'),
      limitTarget('npm start, second start to /readyz', wall(npm), 600, 'ms'),
      ...commands.map(({ name, starts }) => limitTarget(name, wall(starts), 250, 'ms')),
      ...idle.targets,
    ].map(mainTarget),
    notes: [
      note('strongroom serve', serve),
      note('npm start', npm),
      ...commands.map(({ name, starts }) => note(name, starts)),
    ],
    expectations: { secondStartMs: wall(serve), ...idle.expectations },
  }
}

const wall = (starts: readonly Start[]) => median(starts.map(({ ms }) => ms))

function note(name: string, starts: readonly Start[]): string {
  const cpu = starts.flatMap(({ cpuMs }) => cpuMs ?? [])
  const shown = cpu.length > 0 ? `CPU ${median(cpu).toFixed(0)} ms; ` : ''
  return `${name}: ${shown}each ${starts.map(({ ms }) => ms.toFixed(0)).join(', ')} ms`
}

async function repeat(measure: () => Promise<Start>): Promise<Start[]> {
  const starts: Start[] = []
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (let n = 0; n < TIMES; n++) starts.push(await measure())
  return starts
}

interface Server extends Start {
  pid: number
  stop(): Promise<void>
}

/** Creates the store, and lets the program save its compiled code. */
export async function startOnce(data: string): Promise<void> {
  const first = await startServer(SERVE, data)
  await setTimeout(FIRST_START_MS)
  await first.stop()
}

/** Until the first response of /readyz that says so. */
async function startServer(
  [program = '', ...args]: readonly string[],
  data: string,
): Promise<Server> {
  const port = await freePort()
  const startedAt = performance.now()
  const child = spawn(program, [...args, '--port', String(port), '--data', data], options)
  await untilReady(port, child)
  const ms = performance.now() - startedAt
  const pid = child.pid ?? 0
  return {
    ms,
    ...(program === process.execPath && { cpuMs: cpuOf([pid]) }),
    pid,
    async stop() {
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      await exit
    },
  }
}

async function untilReady(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    await response?.arrayBuffer()
    if (response?.ok) return
    await setTimeout(2)
  }
  throw new Error(`The server ended with code ${child.exitCode}`)
}

export async function measureStart(command: readonly string[], data: string): Promise<Start> {
  const server = await startServer(command, data)
  await server.stop()
  return server
}

/** Against a server that responds at once, so that the command itself is measured. */
async function measureCommands(): Promise<{ name: string; starts: Start[] }[]> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"items":[],"cursor":null}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const env = {
    ...process.env,
    STRONGROOM_SERVER: `http://127.0.0.1:${port}`,
    STRONGROOM_TOKEN: 'token',
    FERRYHOOK_API_KEY: 'key',
  }
  try {
    const measured = []
    for (const words of COMMANDS) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const starts = await repeat(() => runCommand(words, env))
      measured.push({ name: `strongroom ${words.join(' ')}`, starts })
    }
    return measured
  } finally {
    server.close()
  }
}

async function runCommand(words: readonly string[], env: NodeJS.ProcessEnv): Promise<Start> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [STRONGROOM, ...words], { ...options, env })
  await once(child, 'exit')
  return { ms: performance.now() - startedAt }
}

async function measureIdle(
  data: string,
): Promise<{ targets: Target[]; expectations: Expectations }> {
  const server = await startServer(SERVE, data)
  await setTimeout(SETTLE_MS)
  const before = cpuOf([server.pid])
  await setTimeout(IDLE_MS)
  const cpuMs = cpuOf([server.pid]) - before
  const memory = anonymousMb(server.pid)
  await server.stop()
  const cpuPercent = (100 * cpuMs) / IDLE_MS
  const targets = [limitTarget('idle server, share of a core', cpuPercent, 0.5, '%')]
  if (memory === undefined) return { targets, expectations: { idleCpuPercent: cpuPercent } }
  targets.push(limitTarget('idle server, anonymous memory', memory, 70, 'MB'))
  return { targets, expectations: { idleCpuPercent: cpuPercent, idleMemoryMb: memory } }
}
