// The server for one-time secrets that a team writes itself: Fastify with schema validation and Redis. Creating
// is one SET, reading one script. REDIS_URL is the store.

import { randomBytes } from 'node:crypto'
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import { reportReady } from '../http/peer-process.ts'

/** Returns the secret, and deletes it with its last view. */
const READ = `
local stored = redis.call('GET', KEYS[1])
if not stored then return false end
local secret = cjson.decode(stored)
secret.maxViews = secret.maxViews - 1
if secret.maxViews <= 0 then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], cjson.encode(secret), 'KEEPTTL')
end
return stored
`

interface Secret {
  ciphertext: string
  iv: string
  salt: string | null
  passphraseProtected: boolean
  linkHash: string
  proofHash: string
  ttlSeconds: number
  maxViews: number
  pow: number
}

type Reader = Redis & { readSecret(key: string): Promise<string | null> }

const base64 = { type: 'string', pattern: '^[A-Za-z0-9+/]+=*$' }
const base64url = { type: 'string', pattern: '^[A-Za-z0-9_-]+$' }

const newSecret = {
  type: 'object',
  additionalProperties: false,
  required: ['ciphertext', 'iv', 'linkHash', 'proofHash', 'ttlSeconds', 'maxViews'],
  properties: {
    ciphertext: { ...base64, maxLength: 200_000 },
    iv: { ...base64, maxLength: 16 },
    salt: { type: ['string', 'null'], maxLength: 24 },
    passphraseProtected: { type: 'boolean' },
    linkHash: { ...base64url, minLength: 43, maxLength: 43 },
    proofHash: { ...base64url, minLength: 43, maxLength: 43 },
    ttlSeconds: { type: 'integer', minimum: 60, maximum: 2_592_000 },
    maxViews: { type: 'integer', minimum: 1, maximum: 100 },
    pow: { type: 'integer', minimum: 0 },
  },
}
const createdSecret = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    burnToken: { type: 'string' },
    expiresAt: { type: 'integer' },
  },
}
const secretId = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...base64url, minLength: 22, maxLength: 22 } },
}
const revealedSecret = {
  type: 'object',
  properties: {
    ciphertext: { type: 'string' },
    iv: { type: 'string' },
    salt: { type: ['string', 'null'] },
    passphraseProtected: { type: 'boolean' },
    remainingViews: { type: 'integer' },
  },
}

const redis = new Redis(process.env['REDIS_URL'] ?? '') as Reader
redis.defineCommand('readSecret', { numberOfKeys: 1, lua: READ })
const app = Fastify({ logger: { level: 'info' } })

app.post<{ Body: Secret }>(
  '/secrets',
  { schema: { body: newSecret, response: { 201: createdSecret } } },
  async ({ body }, reply) => {
    const id = randomBytes(16).toString('base64url')
    const burnToken = randomBytes(16).toString('hex')
    const stored = JSON.stringify({ ...body, burnToken })
    const outcome = await redis.set(`secret:${id}`, stored, 'PX', body.ttlSeconds * 1000, 'NX')
    if (outcome !== 'OK') return reply.code(409).send()
    const expiresAt = Math.floor(Date.now() / 1000) + body.ttlSeconds
    return reply.code(201).send({ id, burnToken, expiresAt })
  },
)

app.get<{ Params: { id: string } }>(
  '/secrets/:id',
  { schema: { params: secretId, response: { 200: revealedSecret } } },
  async ({ params }, reply) => {
    const stored = await redis.readSecret(`secret:${params.id}`)
    if (stored === null) return reply.code(404).send()
    const secret = JSON.parse(stored) as Secret
    return { ...secret, remainingViews: secret.maxViews - 1 }
  },
)

reportReady(await app.listen({ port: 0, host: '127.0.0.1' }))
