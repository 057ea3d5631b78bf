// The destination of deliveries: responds with 200 and records the arrival of each event.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import { numberIn } from './webhook.ts'

/** A sender that is stopped for some seconds keeps its connections. */
const KEEP_ALIVE_MS = 60_000

export class Sink {
  readonly #server: Server
  readonly #came = new Map<number, number>()
  #repeats = 0
  readonly #waiting = new Set<{ count: number; resolve: () => void }>()

  private constructor(server: Server) {
    this.#server = server
  }

  static async open(): Promise<Sink> {
    const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS })
    const sink = new Sink(server)
    server.on('request', (request, response) => {
      const came = performance.now()
      let body = ''
      request.setEncoding('utf8').on('data', (part: string) => (body += part))
      request.on('end', () => {
        response.writeHead(200, { 'content-length': 0 }).end()
        sink.#note(numberIn(body), came)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return sink
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  /** Different events that have arrived. */
  get count(): number {
    return this.#came.size
  }

  /** Events that arrived again. */
  get repeats(): number {
    return this.#repeats
  }

  /** The arrival time of an event on the clock of this process. */
  timeOf(number: number): number | undefined {
    return this.#came.get(number)
  }

  /** Resolves when this many different events have arrived. */
  async until(count: number): Promise<void> {
    if (this.#came.size >= count) return
    await new Promise<void>((resolve) => this.#waiting.add({ count, resolve }))
  }

  forget(): void {
    this.#came.clear()
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #note(number: number, came: number): void {
    if (this.#came.has(number)) this.#repeats++
    else this.#came.set(number, came)
    for (const waiting of this.#waiting) {
      if (this.#came.size < waiting.count) continue
      this.#waiting.delete(waiting)
      waiting.resolve()
    }
  }
}
