/** What stands between sites and the service, as the internet does: it can fail, and it can lie. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface Passing {
  method: string
  path: string
  status: number
  body: Buffer
  headers: Record<string, string>
}

export class GoBetween {
  readonly url: string
  /** "up" passes everything on; "refusing" ends each connection; "silent" never answers. */
  state: 'up' | 'refusing' | 'silent' = 'up'
  /** Changes what sites are told. */
  lie: ((answer: Passing) => void) | undefined
  /** What was asked so far. */
  readonly asked: string[] = []
  readonly #server

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async open(target: string): Promise<GoBetween> {
    const server = createServer((asked, answer) => void between.#pass(asked, answer, target))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const between = new GoBetween(server)
    return between
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse, target: string) {
    const { method = 'GET', url: path = '/' } = asked
    this.asked.push(`${method} ${path}`)
    if (this.state === 'silent') return
    if (this.state === 'refusing') {
      asked.socket.destroy()
      return
    }
    const outgoing = request(target + path, { method, headers: asked.headers, agent: false })
    asked.pipe(outgoing)
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    const passing: Passing = {
      method,
      path,
      status: incoming.statusCode ?? 502,
      body: await buffer(incoming),
      headers: incoming.headers as Record<string, string>,
    }
    // Sites wait as long as they are told to; tests rather ask once more.
    if (passing.status === 202)
      passing.body = Buffer.from(passing.body.toString().replace(/("retry_after":)\d+/, '$10'))
    this.lie?.(passing)
    const { 'transfer-encoding': _, ...headers } = passing.headers
    answer.writeHead(passing.status, {
      ...headers,
      connection: 'close',
      'content-length': String(passing.body.length),
    })
    answer.end(passing.body)
  }
}
