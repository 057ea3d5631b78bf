// The webhook relay that a team writes itself with Fastify and BullMQ. One process receives events and queues
// them, another one delivers them. ROLE is `ingest` or `worker`; REDIS_URL the queue; SINK the destination.

import { createHmac, randomBytes } from 'node:crypto'
import { Queue, Worker } from 'bullmq'
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import { reportReady } from '../http/peer-process.ts'

const QUEUE = 'hooks'
const CONCURRENCY = 20
const MAX_ATTEMPTS = 8
const BACKOFF_MS = 5_000
const KEEP_SECONDS = 86_400
const MAX_RESPONSE_CHARACTERS = 1_000

interface Hook {
  id: string
  body: string
  headers: unknown
}

async function receive(connection: Redis): Promise<void> {
  const queue = new Queue<Hook>(QUEUE, { connection })
  const app = Fastify({ logger: { level: 'info' } })
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_, body, done) =>
    done(null, body),
  )
  app.post('/in/:id', async ({ body, headers }) => {
    const id = `evt_${randomBytes(12).toString('base64url')}`
    await queue.add(
      'hook',
      { id, body: body as string, headers },
      {
        jobId: id,
        attempts: MAX_ATTEMPTS,
        backoff: { type: 'exponential', delay: BACKOFF_MS },
        removeOnComplete: { age: KEEP_SECONDS },
      },
    )
    return { id, status: 'received' }
  })
  reportReady(await app.listen({ port: 0, host: '127.0.0.1' }))
}

async function deliver({ id, body }: Hook, destination: string) {
  const timestamp = Math.floor(Date.now() / 1000)
  const signature = createHmac('sha256', 'whsec')
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64')
  const response = await fetch(destination, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${signature}`,
    },
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`status ${response.status}`)
  return { status: response.status, text: text.slice(0, MAX_RESPONSE_CHARACTERS) }
}

async function work(connection: Redis, destination: string): Promise<void> {
  const worker = new Worker<Hook>(QUEUE, ({ data }) => deliver(data, destination), {
    connection,
    concurrency: CONCURRENCY,
  })
  await worker.waitUntilReady()
  reportReady()
}

const { ROLE, REDIS_URL = '', SINK = '' } = process.env
const connection = new Redis(REDIS_URL, { maxRetriesPerRequest: null })
await (ROLE === 'ingest' ? receive(connection) : work(connection, SINK))
