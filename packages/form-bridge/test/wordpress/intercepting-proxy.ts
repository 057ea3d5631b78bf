/** A proxy between sites and the service that can fail and tamper with responses. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface ProxiedResponse {
  method: string
  path: string
  status: number
  body: Buffer
  headers: Record<string, string>
}

export class InterceptingProxy {
  readonly url: string
  /** "up" forwards everything; "refusing" closes each connection; "silent" never responds. */
  state: 'up' | 'refusing' | 'silent' = 'up'
  /** Changes a response before the site gets it. */
  tamper: ((response: ProxiedResponse) => void) | undefined
  /** Method and path of each request so far. */
  readonly requests: string[] = []
  readonly #server

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async open(target: string): Promise<InterceptingProxy> {
    const server = createServer(
      (incoming, response) => void proxy.#forward(incoming, response, target),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const proxy = new InterceptingProxy(server)
    return proxy
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #forward(incomingRequest: IncomingMessage, response: ServerResponse, target: string) {
    const { method = 'GET', url: path = '/' } = incomingRequest
    this.requests.push(`${method} ${path}`)
    if (this.state === 'silent') return
    if (this.state === 'refusing') {
      incomingRequest.socket.destroy()
      return
    }
    const outgoing = request(target + path, {
      method,
      headers: incomingRequest.headers,
      agent: false,
    })
    incomingRequest.pipe(outgoing)
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    const proxied: ProxiedResponse = {
      method,
      path,
      status: incoming.statusCode ?? 502,
      body: await buffer(incoming),
      headers: incoming.headers as Record<string, string>,
    }
    // Let tests poll without waiting.
    if (proxied.status === 202)
      proxied.body = Buffer.from(proxied.body.toString().replace(/("retry_after":)\d+/, '$10'))
    this.tamper?.(proxied)
    const { 'transfer-encoding': _, ...headers } = proxied.headers
    response.writeHead(proxied.status, {
      ...headers,
      connection: 'close',
      'content-length': String(proxied.body.length),
    })
    response.end(proxied.body)
  }
}
