/** Where deliveries and verified requests go. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Destination {
  /** Accepts everything; with the path `/status/500`, responds with that status. */
  url: string
  /** The bodies that came. */
  requests: string[]
  close(): void
}

export async function openDestination(): Promise<Destination> {
  const requests: string[] = []
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      requests.push(Buffer.concat(chunks).toString())
      const [, status = '200'] = /^\/status\/(\d{3})$/.exec(request.url ?? '') ?? []
      response.statusCode = Number(status)
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, requests, close: () => void receiver.close() }
}
