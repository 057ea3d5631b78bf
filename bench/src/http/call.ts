// A small HTTP client.

import { Agent, request } from 'node:http'

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
    return new Promise((resolve, reject) => {
      const sent = request(`${this.#origin}${path}`, {
        method: 'POST',
        agent: this.#agent,
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          ...headers,
        },
      })
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
