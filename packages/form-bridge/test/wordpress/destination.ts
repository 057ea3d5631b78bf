/** Where submissions end up. */
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

export class Destination {
  readonly url: string
  /** The bodies that have come, decoded. */
  readonly received: Record<string, unknown>[] = []
  readonly #server

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async open(): Promise<Destination> {
    const server = createServer(async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      destination.received.push(JSON.parse(Buffer.concat(parts).toString()))
      response.end('ok')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const destination = new Destination(server)
    return destination
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
