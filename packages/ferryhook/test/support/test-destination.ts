/** Local destinations; the test decides how each path behaves. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '@strongroom/platform/clock'

interface Received {
  path: string
  method: string
  headers: IncomingMessage['headers']
  /** Alternating names and values, as received. */
  rawHeaders: string[]
  body: Buffer
  /** The time of receipt, by the test clock. */
  at: number
}

export type Behaviour = (
  response: ServerResponse,
  received: Received,
  request: IncomingMessage,
) => void

export interface Sink {
  url(path: string): string
  port: number
  /** Defaults to 200. */
  behave(path: string, behaviour: Behaviour): void
  received(path?: string): Received[]
  /** Resolves when a path has received this many requests. */
  until(path: string, count: number): Promise<void>
  close(): Promise<void>
}

export const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Behaviour =>
  (response) => {
    response.writeHead(status, headers).end(body)
  }

export const hang: Behaviour = () => {}

export async function openSink(clock: Clock): Promise<Sink> {
  const behaviours = new Map<string, Behaviour>()
  const log: Received[] = []
  const waiters = new Set<() => void>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const received: Received = {
        path: request.url ?? '',
        method: request.method ?? '',
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks),
        at: clock.now(),
      }
      log.push(received)
      const behave = behaviours.get(received.path) ?? answer(200, {}, 'ok')
      behave(response, received, request)
      for (const look of waiters) look()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const received = (path?: string) =>
    path === undefined ? [...log] : log.filter((each) => each.path === path)
  return {
    port,
    url: (path) => `http://127.0.0.1:${port}${path}`,
    behave: (path, behaviour) => behaviours.set(path, behaviour),
    received,
    until: (path, count) =>
      new Promise((resolve) => {
        const look = () => {
          if (received(path).length < count) return
          waiters.delete(look)
          resolve()
        }
        waiters.add(look)
        look()
      }),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
