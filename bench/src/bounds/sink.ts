// A destination. It notes when each delivery arrived, and can send events back to a source.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Sink {
  url(path: string): string
  /** When deliveries to a path arrived, by the id in their body. */
  arrivals(path: string): ReadonlyMap<string, number>
  /** Sends what arrives at a path to this URL, with its headers. */
  relay(path: string, url: string): void
  close(): Promise<void>
}

export async function openSink(): Promise<Sink> {
  const arrived = new Map<string, Map<string, number>>()
  const relays = new Map<string, string>()
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    const body = await receive(request)
    const relayed = relays.get(path)
    const status = relayed === undefined ? 200 : await pass(relayed, request, body)
    if (path !== '/attack') note(path, body)
    response.writeHead(status).end()
  }

  function note(path: string, body: string): void {
    const { id = String(arrived.get(path)?.size ?? 0) } = JSON.parse(body) as { id?: string }
    const ids = arrived.get(path) ?? new Map<string, number>()
    if (!ids.has(id)) ids.set(id, performance.now())
    arrived.set(path, ids)
  }

  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    arrivals: (path) => arrived.get(path) ?? new Map<string, number>(),
    relay: (path, url) => void relays.set(path, url),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function receive(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

async function pass(url: string, { headers }: IncomingMessage, body: string): Promise<number> {
  const hops = headers['x-ferryhook-hops']
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-ferryhook-hops': String(hops ?? 0) },
    body,
  })
  await response.arrayBuffer()
  return response.status
}
