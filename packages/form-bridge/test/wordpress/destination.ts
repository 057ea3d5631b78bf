/** A destination that records submissions. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export class Destination {
  readonly url: string
  /** Decoded bodies of the received requests. */
  readonly received: Record<string, unknown>[] = []
  readonly #server

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async open(): Promise<Destination> {
    const server = createServer((request, response) => {
      void destination.#receive(request, response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const destination = new Destination(server)
    return destination
  }

  async #receive(request: IncomingMessage, response: ServerResponse) {
    this.received.push((await json(request)) as Record<string, unknown>)
    response.end('ok')
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
