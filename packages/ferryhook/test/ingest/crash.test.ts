import { type ChildProcess, fork } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@strongroom/engine/engine'
import { systemClock } from '@strongroom/kit/clock'
import { createCursors } from '@strongroom/kit/cursor'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { createDataLayer } from '../../src/db/data-layer.ts'
import { times } from '../workbench.ts'

const ROUNDS = process.env['SLOW'] === '1' ? 50 : 3
const SENDERS = 16

/** Bundled below this package, so that it finds the library that is not bundled. */
async function bundled(): Promise<string> {
  const directory = mkdtempSync(join(import.meta.dirname, 'program/.bundle-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const outfile = join(directory, 'server.mjs')
  await build({
    entryPoints: [join(import.meta.dirname, 'program/server.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['lmdb'],
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)`,
    },
    logLevel: 'error',
  })
  return outfile
}

interface Acknowledged {
  id: string
  body: string
}

/** Sends until the process is killed, which is after so many answers, with others under way. */
async function sendUntilKilled(server: ChildProcess, url: string, answers: number) {
  const acknowledged: Acknowledged[] = []
  const sender = async (name: number) => {
    for (let sent = 0; !server.killed; sent++) {
      const body = `${url} ${name} ${sent}${' and more'.repeat(randomInt(0, 600))}`
      const headers = { 'x-github-delivery': `${name}-${sent}` }
      // The last one of each sender is cut off.
      const answer = await fetch(url, { method: 'POST', body, headers }).catch(() => undefined)
      const told = await answer?.json().catch(() => undefined)
      if (answer?.status === 200 && told) acknowledged.push({ id: (told as Acknowledged).id, body })
      if (acknowledged.length >= answers) server.kill('SIGKILL')
    }
  }
  await Promise.all(times(SENDERS, sender))
  return acknowledged
}

/** What is wrong with what the killed process left. */
async function faultsOf(directory: string, sourceId: string, acknowledged: Acknowledged[]) {
  const engine = await openEngine({ directory, sweepIntervalMs: 0 })
  try {
    const cursors = createCursors(new Uint8Array(32))
    const layer = createDataLayer({ db: engine, clock: systemClock, cursors })
    const shard = await layer.dueShards.of(sourceId)
    const { tasks } = await layer.dueWork.listDue(shard, { limit: 1_000_000 })
    const due = tasks.flatMap((task) =>
      task.kind === 'route' && task.sourceId === sourceId ? [task.eventId] : [],
    )
    const routed = new Set(due)
    const faults: string[] = []
    for (const { id, body } of acknowledged) {
      const event = await layer.events.getCurrent(id)
      const bytes = event && (await layer.events.getBody(event))
      if (!event || !bytes) faults.push('an event that was answered 200 is gone')
      else if (Buffer.from(bytes).toString() !== body) faults.push('a body is another one')
      if (!routed.has(id)) faults.push('an event has no task')
    }
    for (const id of due) {
      if (!(await layer.events.getCurrent(id))) faults.push('a task has no event')
    }
    return faults
  } finally {
    await engine.close()
  }
}

test(
  'a server that is killed right after its answers has lost no event it answered 200, nor its task',
  { timeout: ROUNDS * 60_000 },
  async () => {
    const program = await bundled()
    const data = mkdtempSync(join(tmpdir(), 'strongroom-test-'))
    onTestFinished(() => rmSync(data, { recursive: true, force: true }))
    for (let round = 0; round < ROUNDS; round++) {
      const server = fork(program, [data], { execArgv: [] })
      const ended = once(server, 'exit')
      const [{ url, sourceId }] = (await once(server, 'message')) as [
        { url: string; sourceId: string },
      ]
      // The moment is random in what the process had answered, not in time.
      const acknowledged = await sendUntilKilled(server, url, randomInt(1, 400))
      const [, signal] = (await ended) as [number | null, string | null]
      expect(signal).toBe('SIGKILL')
      expect(acknowledged.length).toBeGreaterThan(0)
      expect(await faultsOf(data, sourceId, acknowledged)).toEqual([])
    }
  },
)
