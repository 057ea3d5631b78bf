/** Where submissions end up. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

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
    const server = createServer((request, response) => {
      void destination.#take(request, response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const destination = new Destination(server)
    return destination
  }

  async #take(request: IncomingMessage, response: ServerResponse) {
    this.received.push((await json(request)) as Record<string, unknown>)
    response.end('ok')
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
