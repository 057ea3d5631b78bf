// A small HTTP client.

import { Agent, type OutgoingHttpHeaders, request } from 'node:http'

export interface Call {
  path: string
  headers?: Record<string, string>
  body: string
}

export interface Answer {
  status: number
  body: string
}

export class Caller {
  readonly #origin: string
  readonly #agent: Agent

  constructor(origin: string, connections: number) {
    this.#origin = origin
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  post({ path, headers, body }: Call): Promise<Answer> {
    const described = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...headers,
    }
    return this.#send('POST', path, described, body)
  }

  get(path: string): Promise<Answer> {
    return this.#send('GET', path, {})
  }

  #send(
    method: string,
    path: string,
    headers: OutgoingHttpHeaders,
    body?: string,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(`${this.#origin}${path}`, { method, agent: this.#agent, headers })
      sent.on('error', reject)
      sent.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => (text += part))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
        response.on('error', reject)
      })
      sent.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
