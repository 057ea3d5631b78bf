/** The peers of `strongroom listen`: a server that streams what a test writes, and a local program. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface StreamServer {
  url: string
  /** The requests for the stream, in the order in which they came. */
  requests: IncomingMessage[]
  /** Resolves with the connection of a request when it arrives. */
  connection(number: number): Promise<ServerResponse>
  /** The response to the next requests instead of a stream; undefined streams again. */
  refuse(answer?: Refusal): void
}

interface Refusal {
  status: number
  code?: string
  headers?: Record<string, string>
  /** Of requests below this path alone. */
  below?: string
}

export async function streamServer(): Promise<StreamServer> {
  const requests: IncomingMessage[] = []
  const connections: ServerResponse[] = []
  const waiting: (() => void)[] = []
  let refusal: Refusal | undefined
  const url = await serving((request, response) => {
    requests.push(request)
    if (refusal && request.url?.startsWith(refusal.below ?? '/')) {
      const error = { code: refusal.code ?? 'server.unavailable', message: 'Not now: come back' }
      response.writeHead(refusal.status, refusal.headers).end(JSON.stringify({ error }))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    connections.push(response)
    for (const look of waiting) look()
  })
  return {
    url,
    requests,
    refuse: (answer) => (refusal = answer),
    connection: (number) =>
      new Promise((resolve) => {
        const look = () => {
          const found = connections[number]
          if (found) resolve(found)
        }
        waiting.push(look)
        look()
      }),
  }
}

/** An event as the stream has it. */
export const eventFrame = (number: number, given: object = {}) =>
  frame('event', `position-${number}`, {
    id: `evt_${String(number).padStart(16, '0')}`,
    receivedAt: '2100-01-01T00:00:00.000Z',
    unverified: false,
    method: 'POST',
    query: null,
    headers: { 'content-type': 'application/json' },
    body: `{"n":${number}}`,
    encoding: 'utf-8',
    ...given,
  })

export const frame = (event: string, id: string | undefined, data: object) =>
  `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`

export const ready = (id = 'position-0') => frame('ready', id, {})

export interface LocalProgram {
  url: string
  got: { request: IncomingMessage; body: Buffer }[]
  /** Resolves when so many requests have come. */
  until(count: number): Promise<void>
}

export async function localProgram(
  answer: (response: ServerResponse) => void = (response) => response.end(),
): Promise<LocalProgram> {
  const got: LocalProgram['got'] = []
  const waiting: (() => void)[] = []
  const url = await serving((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      got.push({ request, body: Buffer.concat(chunks) })
      answer(response)
      for (const look of waiting) look()
    })
  })
  return {
    url,
    got,
    until: (count) =>
      new Promise((resolve) => {
        const look = () => void (got.length >= count && resolve())
        waiting.push(look)
        look()
      }),
  }
}

async function serving(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(handle).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
