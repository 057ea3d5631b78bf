import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { emptyDirectory, type Running, start } from './strongroom.ts'

const MAX_ANONYMOUS_MB = 450
const BODY = Buffer.alloc(3 * 1024 * 1024, 'x')

const attacks = [
  { attack: '150 connections to a Two-key app that does not exist', count: 150 },
  { attack: '2,500 connections to a source that does not exist', count: 2_500 },
]
const clients = [
  { from: 'one address', proxies: '0' },
  { from: 'as many addresses as there are connections', proxies: '127.0.0.0/8' },
]

describe.runIf(process.env['SLOW'] && process.platform === 'linux')(
  'the memory of a server',
  () => {
    const sockets: Socket[] = []
    let server: Running | undefined
    afterEach(() => void server?.process.kill('SIGKILL'))

    async function started(proxies: string): Promise<number> {
      const env = { STRONGROOM_TRUSTED_PROXIES: proxies }
      server = start(['serve', '--port', '0'], { cwd: await emptyDirectory(), env })
      const printed = await server.until('Press Ctrl+C to stop')
      return Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1])
    }

    async function anonymousMegabytes(): Promise<number> {
      const status = await readFile(`/proc/${server?.process.pid}/status`, 'utf8')
      return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
    }

    /** Keeps a connection and sends all of a body but its last byte. Resolves when it is sent or refused. */
    async function held(port: number, path: string, bytes: number): Promise<void> {
      const socket = connect(port, '127.0.0.1').resume()
      sockets.push(socket)
      const ended = once(socket, 'close').catch(() => {})
      socket.on('error', () => {})
      socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n`)
      const sent = new Promise<void>((resolve) => {
        socket.write(BODY.subarray(0, bytes - 1), () => resolve())
      })
      await Promise.race([ended, sent])
    }

    test.each(attacks.flatMap((attack) => clients.map((client) => ({ ...attack, ...client }))))(
      'stays below 450 MB with $attack from $from',
      { timeout: 180_000 },
      async (given) => {
        const isTwoKey = given.count === 150
        const port = await started(given.proxies)
        const path = isTwoKey ? '/two-key/slack/none/events' : '/in/src_0000000000000000'
        const bytes = isTwoKey ? BODY.length : 262_144
        let highest = 0
        const isDone = { now: false }
        const measured = (async () => {
          while (!isDone.now) {
            highest = Math.max(highest, await anonymousMegabytes())
            await nextTurn()
          }
        })()
        await Promise.all(Array.from({ length: given.count }, () => held(port, path, bytes)))
        isDone.now = true
        await measured
        expect(highest).toBeGreaterThan(0)
        expect(highest).toBeLessThan(MAX_ANONYMOUS_MB)
        // When the refused connections have ended, everyone is served.
        for (const socket of sockets.splice(0)) socket.destroy()
        expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
      },
    )
  },
)
