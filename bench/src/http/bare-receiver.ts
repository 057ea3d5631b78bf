// A minimal receiver of webhooks: reads the body, stores nothing, and responds like Ferryhook.

import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { announce } from './announce.ts'

announce(
  createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      Buffer.concat(parts)
      const id = `evt_${randomBytes(12).toString('base64url')}`
      const text = JSON.stringify({ id, status: 'received' })
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      })
      response.end(text)
    })
  }),
)
