// The server under attack, in its own process.

import { mkdtemp, rm } from 'node:fs/promises'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../free-port.ts'
import { ServerProcess } from '../http/server-process.ts'

const STRONGROOM = fileURLToPath(new URL('../../packages/cli/bin/strongroom.mjs', import.meta.url))

/** Attackers, their destinations and the browser have machines of their own in real life. */
const SERVER_PRIORITY = -10

/** `monitorEventLoopDelay` counts the time between two of its timers, also if neither is late. */
const TIMER_INTERVAL_MS = 10

export interface TargetServer {
  url: string
  /** The longest delay of the server's event loop since the last call, in milliseconds. */
  eventLoopDelay(): Promise<number>
  close(): Promise<void>
}

export async function startTarget(): Promise<TargetServer> {
  const directory = await mkdtemp(join(tmpdir(), 'strongroom-bounds-'))
  const metricsPort = await freePort()
  const server = await ServerProcess.start([STRONGROOM, 'serve', '--port', '0', '--json'], {
    env: {
      STRONGROOM_DATA: directory,
      STRONGROOM_METRICS_PORT: String(metricsPort),
      STRONGROOM_LOG_LEVEL: 'error',
      // Attackers and other tenants have one address here; the limit has tests of its own.
      STRONGROOM_MAX_CONNECTIONS_PER_ADDRESS: '1024',
      FERRYHOOK_SIGNUP: 'open',
      FERRYHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      FERRYHOOK_ALLOW_HTTP: 'true',
    },
  })
  raisePriority(server.pid)
  return {
    url: server.url,
    async eventLoopDelay() {
      const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`)
      const line = /^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(await response.text())
      return Math.max(0, Number(line?.[1]) * 1000 - TIMER_INTERVAL_MS)
    },
    async close() {
      await server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Of the main thread only; its worker threads keep theirs. Needs root, as in CI. */
function raisePriority(pid: number): void {
  try {
    setPriority(pid, SERVER_PRIORITY)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SYSTEM_ERROR') throw error
  }
}
