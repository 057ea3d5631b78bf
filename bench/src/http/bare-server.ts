// A minimal server for `POST /secrets` and `POST /secrets/{id}/reveal`: keeps secrets in a Map and returns
// each once, in responses like Sealed's. Nothing is validated or durable.

import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { announce } from './announce.ts'

interface Secret {
  ciphertext: string
  iv: string
  salt: string | null
  passphraseProtected: boolean
  ttlSeconds: number
  maxViews: number
}

const kept = new Map<string, Secret>()

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const sent = JSON.parse(Buffer.concat(parts).toString()) as Secret
    const [, , id, what] = (request.url ?? '').split('/')
    if (what === 'reveal' && id !== undefined) {
      const found = kept.get(id)
      kept.delete(id)
      if (found === undefined) return answer(404, {})
      const { ciphertext, iv, salt, passphraseProtected, maxViews } = found
      const views = { remainingViews: maxViews - 1, graceSeconds: 30 }
      answer(200, { ciphertext, iv, salt, passphraseProtected, ...views })
    } else {
      const made = randomBytes(16).toString('base64url')
      kept.set(made, sent)
      const expiresAt = Math.floor(Date.now() / 1000) + sent.ttlSeconds
      answer(201, { id: made, burnToken: randomBytes(16).toString('hex'), expiresAt })
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
announce(server)
