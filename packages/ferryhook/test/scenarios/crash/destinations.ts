/** Two destinations that record requests: one accepts everything, the other rejects it at first. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Got {
  path: string
  eventId: string
  bodyHash: string
}

export const hashOf = (body: Uint8Array) => createHash('sha256').update(body).digest('hex')

export async function openDestinations() {
  const got: Got[] = []
  /** Called for each request, before and after the response. */
  const watch = { before: () => {}, after: () => {} }
  const refused = new Set<string>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const path = request.url ?? ''
      const eventId = String(request.headers['webhook-id'])
      got.push({ path, eventId, bodyHash: hashOf(Buffer.concat(chunks)) })
      watch.before()
      const isRefused = path === '/grumpy' && !refused.has(eventId)
      if (isRefused) refused.add(eventId)
      // Not 500, which would open the breaker and leave one attempt in minutes.
      response.writeHead(isRefused ? 409 : 200).end(watch.after)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    got,
    watch,
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type Destinations = Awaited<ReturnType<typeof openDestinations>>
