/**
 * The wire face under requests at random: whatever comes, the answer has AWS's form and comes soon, and
 * memory does not grow. The same requests each time, others with FUZZ_SEED; a failure prints the request.
 */
import { Agent, request } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine } from '../../src/engine.ts'
import { type DynamoServer, serve } from '../../src/wire/server.ts'
import { engineForSuite, notes, plain } from '../support/engine.ts'
import { type FuzzRequest, fuzzRequest } from '../support/fuzz-mutations.ts'
import { goodRequests } from '../support/fuzz-requests.ts'
import { wireOperations } from '../../src/operations/all.ts'

const SLOW = Boolean(process.env['SLOW'])
const REQUESTS = SLOW ? 120_000 : 1500
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_116)
/** After this many requests the tables are recreated, so that stored items do not slow later requests. */
const ROUND = 1000
const AT_ONCE = 16
const PATIENCE_MS = 20_000
const MAX_GROWTH_BYTES = 48 * 1024 * 1024

const ANSWER_TYPE = /^com\.amazon(aws)?\.[\w.]+#\w+$/

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function heapInUse(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

describe(`the wire face, with FUZZ_SEED=${SEED}`, { timeout: SLOW ? 1_800_000 : 120_000 }, () => {
  let suite: Awaited<ReturnType<typeof engineForSuite>>
  let server: DynamoServer
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })

  beforeAll(async () => {
    suite = await engineForSuite()
    server = await serve(suite.engine)
  })
  afterAll(async () => {
    agent.destroy()
    await server.close()
    await suite.close()
  })

  test('is tried with requests of every operation', () => {
    const tried = new Set(goodRequests.map(({ operation }) => operation))
    expect([...wireOperations.keys()].filter((name) => !tried.has(name))).toEqual([])
  })

  test('is tried with requests that are good before they are made bad', async () => {
    await freshTables(suite.engine)
    const refusals: string[] = []
    for (const { target, request: good } of goodRequests) {
      const body = Buffer.from(JSON.stringify(good))
      const contentType = 'application/x-amz-json-1.0'
      // oxlint-disable-next-line no-await-in-loop -- some must come before others
      const { bytes } = await send({ target, contentType, body })
      const { __type: type, message } = JSON.parse(bytes.toString()) as Record<string, string>
      const isRefused = /#(Validation|Serialization|UnknownOperation)Exception$/.test(type ?? '')
      if (isRefused) refusals.push(`${target}: ${message}`)
    }
    // Only what the engine alone can make cannot be made up.
    expect(refusals).toEqual(['DynamoDBStreams_20120810.GetRecords: Invalid ShardIterator'])
  })

  test(`responds to ${REQUESTS} random requests in AWS's form, and leaks no memory`, async () => {
    let before = 0
    for (let start = 0; start < REQUESTS; start += ROUND) {
      // oxlint-disable-next-line no-await-in-loop -- one round after the other
      await round(start)
      // What is kept on purpose, such as parsed expressions, is there after some rounds.
      if (start + ROUND >= REQUESTS / 4 && before === 0) before = heapInUse()
    }
    expect(heapInUse() - before).toBeLessThan(MAX_GROWTH_BYTES)
  })

  async function round(start: number): Promise<void> {
    await freshTables(suite.engine)
    let next = start
    const worker = async (): Promise<void> => {
      while (next < start + ROUND) {
        const number = next
        next += 1
        const tried = fuzzRequest(SEED, number)
        // oxlint-disable-next-line no-await-in-loop -- each worker is one client
        const problem = await problemWith(tried)
        if (problem !== undefined) throw new Error(report(number, tried, problem))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  }

  /** What is wrong with the answer, if anything is. */
  async function problemWith(tried: FuzzRequest): Promise<string | undefined> {
    let answer
    try {
      answer = await send(tried)
    } catch (error) {
      return `no answer: ${String(error)}`
    }
    const { status, checksum, bytes } = answer
    if (checksum !== `${crc32(bytes)}`) return 'the checksum is not that of the answer'
    let body: unknown
    try {
      body = JSON.parse(bytes.toString())
    } catch {
      return `an answer that is no JSON: ${bytes.toString().slice(0, 200)}`
    }
    if (typeof body !== 'object' || body === null) return 'an answer that is no object'
    if (status === 200) return undefined
    const type = (body as Record<string, unknown>)['__type']
    const isRefusal = status >= 400 && status < 500
    if (isRefusal && typeof type === 'string' && ANSWER_TYPE.test(type)) return undefined
    return `status ${status}: ${bytes.toString().slice(0, 500)}`
  }

  function send({ target, contentType, body }: FuzzRequest) {
    return new Promise<{ status: number; checksum: unknown; bytes: Buffer }>((resolve, reject) => {
      const outgoing = request(
        {
          host: server.host,
          port: server.port,
          method: 'POST',
          agent,
          timeout: PATIENCE_MS,
          headers: {
            'content-type': contentType,
            'x-amz-target': target,
            'content-length': body.length,
          },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              checksum: response.headers['x-amz-crc32'],
              bytes: Buffer.concat(chunks),
            }),
          )
        },
      )
      outgoing.on('timeout', () => outgoing.destroy(new Error('it takes too long')))
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }
})

function report(number: number, { target, body }: FuzzRequest, problem: string): string {
  return `Request ${number} of FUZZ_SEED=${SEED}: ${problem}\n${target}\n${body.toString()}`
}

async function freshTables(engine: Engine): Promise<void> {
  await engine.settled()
  const { BackupSummaries = [] } = await engine.listBackups({})
  await Promise.all(BackupSummaries.map(({ BackupArn = '' }) => engine.deleteBackup({ BackupArn })))
  const { TableNames = [] } = await engine.listTables({})
  for (const TableName of TableNames) {
    // oxlint-disable-next-line no-await-in-loop -- one change of a table at a time
    const { Table } = await engine.describeTable({ TableName })
    if (Table?.DeletionProtectionEnabled) {
      // oxlint-disable-next-line no-await-in-loop -- the same
      await engine.updateTable({ TableName, DeletionProtectionEnabled: false })
    }
    // oxlint-disable-next-line no-await-in-loop -- the same
    await engine.deleteTable({ TableName })
  }
  await engine.settled()
  await engine.createTable(plain)
  await engine.createTable(notes)
  await engine.putItem({ TableName: 'plain', Item: { id: 'a', parts: [1, 2], doc: { x: 1 } } })
}
