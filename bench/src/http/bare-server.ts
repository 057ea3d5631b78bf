// As little server as there can be: parses what is sent, keeps it in a Map, gives it back once.
// Nothing is checked, nothing is durable. `POST /secrets` and `POST /secrets/{id}/reveal`.

import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const kept = new Map<string, string>()

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const { ciphertext } = JSON.parse(Buffer.concat(parts).toString()) as { ciphertext?: string }
    const [, , id, what] = (request.url ?? '').split('/')
    if (what === 'reveal' && id !== undefined) {
      const found = kept.get(id)
      kept.delete(id)
      answer(found === undefined ? 404 : 200, { ciphertext: found })
    } else {
      const made = randomBytes(16).toString('base64url')
      kept.set(made, ciphertext ?? '')
      answer(201, { id: made })
    }
  })
  function answer(status: number, body: object) {
    const text = JSON.stringify(body)
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    })
    response.end(text)
  }
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(JSON.stringify({ url: `http://127.0.0.1:${port}` }))
})
process.once('SIGTERM', () => process.exit(0))
