// A Redis as durable as Strongroom: it flushes its log to disk before it responds.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../free-port.ts'

const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always']
/** Snapshots would only add work: the log alone is durable. */
const NO_SNAPSHOTS = ['--save', '']
const START_TIMEOUT_MS = 10_000

export const NO_REDIS =
  'left out because redis-server was not found: install it, for example with apt-get install redis-server'

export interface Redis {
  url: string
  pid: number
  close(): Promise<void>
}

export function hasRedis(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0
}

export async function startRedis(directory: string): Promise<Redis> {
  mkdirSync(directory, { recursive: true })
  const port = await freePort()
  const place = ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', directory]
  const child = spawn('redis-server', [...place, ...DURABLE, ...NO_SNAPSHOTS], { stdio: 'ignore' })
  const deadline = Date.now() + START_TIMEOUT_MS
  // oxlint-disable-next-line no-await-in-loop -- asks until it answers
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with code ${child.exitCode}`)
    if (Date.now() > deadline) throw new Error('redis-server did not start in time')
    // oxlint-disable-next-line no-await-in-loop
    await setTimeout(10)
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: child.pid!,
    async close() {
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      await exit
    },
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
