/**
 * All functions of a deployment on DynamoDB Local and our KMS, behind a router that works like an HTTP
 * API. Without Java, our own DynamoDB over HTTP is in the place of DynamoDB Local.
 */
import { randomBytes } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@strongroom/engine/engine'
import { serve } from '@strongroom/engine/wire/server'
import { createAwsDb } from '@strongroom/kit/aws-db'
import type { Db } from '@strongroom/kit/db'
import { prefixTables } from '@strongroom/kit/prefix-tables'
import { serverTable } from '@strongroom/kit/server-table'
import { createKms } from '@strongroom/kms/kms'
import { serveKms } from '@strongroom/kms/serve'
import { memoryKeyStorage } from '@strongroom/kms/testing/memory-key-storage'
import { inject } from 'vitest'
import { buildLambda } from '../../../../scripts/build-lambda.mjs'
import { type LambdaFunction, lambdaFunctions } from '../../src/functions.ts'
import type { HttpEvent } from '../../src/http-event.ts'
import type { HttpResult } from '../../src/http-result.ts'
import { allowancesOf } from '../../src/permissions.ts'
import { matchesRoutes, type RouteKey } from '../../src/routes.ts'
import { type FunctionProcess, startFunction } from './function-process.ts'
import { callsOf, type RecordedCall } from './recorded-calls.ts'
import { startRecordingProxy } from './recording-proxy.ts'

export interface Deployment {
  /** Not recorded: for what people do with the store, and for assertions. */
  db: Db
  /** Sets environment variables of all functions that document them and have not started. */
  configure(env: Record<string, string>): void
  functionOf(name: string): Promise<FunctionProcess>
  invoke(name: string, event: object): Promise<unknown>
  /** Sends a request to the function whose route matches best. */
  fetch(request: Request, from?: { sourceIp?: string }): Promise<Response>
  calls(): RecordedCall[]
  /**
   * Any function may be the first to need a server secret, or the one that removes an expired version.
   * This puts the secrets of a function into that state, as they are when it starts.
   */
  forgetSecrets(name: string): Promise<void>
  /** Does something once, just before the first such call of a function reaches the store. */
  beforeCall(
    call: { function: string; action: string; leadingKey: string },
    act: () => Promise<void>,
  ): void
  /** The files that each bundle was made from. */
  inputs: ReadonlyMap<string, readonly string[]>
  close(): Promise<void>
}

const keyIdOf = (name: string) => name.replaceAll('-', '')

export async function openDeployment(): Promise<Deployment> {
  const directory = await mkdtemp(join(tmpdir(), 'strongroom-lambda-zips-'))
  const built = await buildLambda({ directory })
  const store = await openEndpoint()
  const prefix = `l${process.pid}-${Date.now()}-`
  const kms = await createKms({ masterKey: randomBytes(32), storage: memoryKeyStorage() })
  const { KeyMetadata } = await kms.createKey()
  const credentials = lambdaFunctions.map(({ name }) => ({
    accessKeyId: keyIdOf(name),
    secretAccessKey: 'secret',
  }))
  const kmsServer = await serveKms(kms, { port: 0, credentials })
  const names = new Map(lambdaFunctions.map(({ name }) => [keyIdOf(name), name]))
  const calls = new Map<string, RecordedCall>()
  const interruptions = new Map<string, () => Promise<void>>()
  const record = async (keyId: string, target: string, body: string) => {
    const name = names.get(keyId) ?? keyId
    for (const call of callsOf(target, body, prefix)) {
      const recorded = { function: name, ...call }
      calls.set(JSON.stringify(recorded), recorded)
      const interrupted = `${name} ${call.action} ${call.leadingKeys?.[0]}`
      const act = interruptions.get(interrupted)
      interruptions.delete(interrupted)
      await act?.()
    }
  }
  const dynamoProxy = await startRecordingProxy(store.url, record)
  const kmsProxy = await startRecordingProxy(`http://127.0.0.1:${kmsServer.port}`, record)
  const processes = new Map<string, Promise<FunctionProcess>>()
  const coldStarts = new Map<string, { importMs: number; firstMs: number }>()
  const aws = createAwsDb({
    endpoint: store.url,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    requestHandler: { requestTimeout: 50_000 },
  })

  const db = prefixTables(aws, prefix)

  const settings: Record<string, string> = {
    PUBLIC_URL: 'https://strongroom.example',
    STRONGROOM_TABLE_PREFIX: prefix,
    STRONGROOM_LOG_LEVEL: 'warn',
    DYNAMODB_ENDPOINT: dynamoProxy.url,
    KMS_ENDPOINT: kmsProxy.url,
    KMS_KEY_ARN: KeyMetadata.Arn,
  }

  async function functionOf(name: string): Promise<FunctionProcess> {
    let process = processes.get(name)
    if (!process) {
      const declared = declarationOf(name)
      const zip = built.get(name)?.zip
      if (zip === undefined) throw new Error(`${name} was not built`)
      process = forgetSecrets(db, declared).then(() =>
        startFunction(declared, { zip, env: settings, keyId: keyIdOf(name) }),
      )
      processes.set(name, process)
    }
    return process
  }

  async function invoke(name: string, event: object): Promise<unknown> {
    const process = await functionOf(name)
    const startedAt = performance.now()
    const result = await process.invoke(event)
    if (!coldStarts.has(name)) {
      coldStarts.set(name, { importMs: process.importMs, firstMs: performance.now() - startedAt })
    }
    return result
  }

  return {
    db,
    configure: (env) => void Object.assign(settings, env),
    functionOf,
    invoke,
    async fetch(request, from) {
      const { pathname } = new URL(request.url)
      const { name } = routeFor(request.method, pathname)
      return toResponse((await invoke(name, await toEvent(request, from))) as HttpResult)
    },
    calls: () => [...calls.values()],
    forgetSecrets: (name) => forgetSecrets(db, declarationOf(name)),
    beforeCall(call, act) {
      interruptions.set(`${call.function} ${call.action} ${call.leadingKey}`, act)
    },
    inputs: new Map(Array.from(built, ([name, { inputs }]) => [name, inputs])),
    async close() {
      await Promise.all(Array.from(processes.values(), async (process) => (await process).close()))
      await Promise.all([dynamoProxy.close(), kmsProxy.close(), kmsServer.close()])
      aws.close()
      await store.close()
      await rm(directory, { recursive: true })
      await writeRecords([...calls.values()], coldStarts)
    },
  }
}

async function openEndpoint(): Promise<{ url: string; close(): Promise<void> }> {
  const local = inject('dynamodbLocal')
  if (local !== null) return { url: local, close: async () => {} }
  const directory = await mkdtemp(join(tmpdir(), 'strongroom-lambda-store-'))
  const engine = await openEngine({ directory })
  const server = await serve(engine)
  return {
    url: `http://127.0.0.1:${server.port}`,
    async close() {
      await server.close()
      await engine.close()
      await rm(directory, { recursive: true })
    },
  }
}

function declarationOf(name: string): LambdaFunction {
  const declared = lambdaFunctions.find((each) => each.name === name)
  if (!declared) throw new Error(`There is no function ${name}`)
  return declared
}

async function forgetSecrets(db: Db, declared: LambdaFunction): Promise<void> {
  const partitions = allowancesOf(declared).flatMap(({ leadingKeys = [] }) =>
    leadingKeys.filter((key) => key.startsWith('SECRET#')),
  )
  for (const PK of partitions) {
    // Sessions that another function began must stay valid.
    if (declared.name === 'ferryhook-live' && PK.endsWith('access-tokens')) continue
    const name = PK.replace('SECRET#', '').replace('*', 'server-cursors')
    const key = `SECRET#${name}`
    const { Items = [] } = await db.query({
      TableName: serverTable.name,
      KeyConditionExpression: 'PK = :key',
      ExpressionAttributeValues: { ':key': key },
    })
    for (const { SK = '' } of Items) {
      await db.deleteItem({ TableName: serverTable.name, Key: { PK: key, SK } })
    }
    const expired = { PK: key, SK: 'V#9', name, version: 9, sealed: Buffer.of(1) }
    const times = { createdAt: 1, activeFrom: 1, acceptedUntil: 2 }
    await db.putItem({ TableName: serverTable.name, Item: { ...expired, ...times } })
  }
}

/** For the check of roles, see README.md. */
async function writeRecords(
  calls: readonly RecordedCall[],
  coldStarts: ReadonlyMap<string, object>,
): Promise<void> {
  const directory = process.env['RECORD_CALLS']
  if (directory === undefined) return
  await mkdir(directory, { recursive: true })
  const starts = JSON.stringify(Object.fromEntries(coldStarts), null, 2)
  await writeFile(join(directory, 'cold-starts.json'), `${starts}\n`)
  for (const call of calls) {
    await appendFile(join(directory, `${call.function}.jsonl`), `${JSON.stringify(call)}\n`)
  }
}

/** The function of the most specific route, as API Gateway chooses it. */
function routeFor(method: string, path: string): LambdaFunction {
  let best: { declared: LambdaFunction; rank: number } | undefined
  for (const declared of lambdaFunctions) {
    for (const trigger of declared.triggers) {
      if (trigger.kind !== 'http') continue
      for (const key of trigger.routes) {
        const rank = rankOf(key)
        if (matchesRoutes([key], method, path) && rank > (best?.rank ?? -1))
          best = { declared, rank }
      }
    }
  }
  if (!best) throw new Error(`No function has ${method} ${path}`)
  return best.declared
}

/** Full matches before greedy ones before the default; then the number of fixed parts decides. */
function rankOf(key: RouteKey): number {
  if (key === '$default') return 0
  const parts = key.split('/').slice(1)
  const fixed = parts.filter((part) => !part.startsWith('{')).length
  return (key.endsWith('{proxy+}') ? 1_000 : 2_000) + fixed * 10 + (key.startsWith('ANY') ? 0 : 1)
}

let addresses = 0

/** An event in the shape that HTTP APIs send. */
export async function toEvent(
  request: Request,
  { sourceIp = `198.51.${addresses >> 8}.${addresses++ & 255}` }: { sourceIp?: string } = {},
): Promise<HttpEvent> {
  const { pathname, search, host } = new URL(request.url)
  const body = Buffer.from(await request.arrayBuffer())
  const { cookie, ...headers } = Object.fromEntries(request.headers)
  const now = new Date()
  const event = {
    version: '2.0',
    routeKey: '$default',
    rawPath: pathname,
    rawQueryString: search.slice(1),
    ...(cookie !== undefined && { cookies: cookie.split('; ') }),
    headers: {
      ...headers,
      host,
      'x-forwarded-for': sourceIp,
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
      ...(body.length > 0 && { 'content-length': String(body.length) }),
    },
    requestContext: {
      accountId: '123456789012',
      apiId: 'api1234567',
      domainName: host,
      domainPrefix: host.split('.')[0],
      http: {
        method: request.method,
        path: pathname,
        protocol: 'HTTP/1.1',
        sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: 'JKJaXmPLvHcESHA=',
      routeKey: '$default',
      stage: '$default',
      time: now.toUTCString(),
      timeEpoch: now.getTime(),
    },
    ...(body.length > 0 && { body: body.toString('base64') }),
    isBase64Encoded: body.length > 0,
  } as const
  return event
}

function toResponse({ statusCode, headers, cookies, body, isBase64Encoded }: HttpResult) {
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
  const response = new Response(statusCode === 204 || statusCode === 304 ? null : bytes, {
    status: statusCode,
    headers,
  })
  for (const cookie of cookies) response.headers.append('set-cookie', cookie)
  return response
}
