/**
 * The wire face: DynamoDB's JSON 1.0 protocol over HTTP, for SDKs of any language.
 *
 * With credentials, every request must be signed with one of them. Without credentials, the server
 * listens on loopback addresses only and is also protected from web pages: it sends no CORS headers,
 * requires headers that force a preflight request, and rejects a Host that is not this machine. Only the
 * health check, GET /, needs no such headers. TLS and HTTP/2 are not supported.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type Credentials,
  indexCredentials,
  parseSignature,
  verifySignature,
  SignatureError,
  type Verifier,
} from '@strongroom/platform/aws-signature'
import { type Clock, systemClock } from '@strongroom/platform/clock'
import { enableGracefulClose, rejectBrokenRequests } from '@strongroom/platform/http-server'
import { isJsonDeeperThan } from '@strongroom/platform/json-depth'
import { discardRest, readRequestBody } from '@strongroom/platform/read-body'
import type { Engine } from '../engine.ts'
import { DynamoError, serializationError, unknownOperation } from '../errors.ts'
import { operationOf } from './targets.ts'
import { wireFailure } from './failure.ts'
import { release } from '../operations/wire-page.ts'
import { encodeResponse } from './response.ts'

const CONTENT_TYPE = 'application/x-amz-json-1.0'
const MAX_BODY_BYTES = 16 * 1024 * 1024
/** The rest of a rejected body is read up to this limit, so that the client can read the response. */
const MAX_DISCARDED_BYTES = 4 * MAX_BODY_BYTES
/** A document of 32 levels has two levels of JSON for each, plus a few for the request. */
const MAX_BODY_DEPTH = 256
/** Smaller bodies cannot nest deep enough to matter. */
const MIN_CHECKED_BYTES = 16 * 1024
const LOOPBACK = /^(localhost|[a-z0-9-]+(\.[a-z0-9-]+)*\.localhost|127(\.\d{1,3}){3}|\[::1\]|::1)$/i

export interface ServeOptions {
  /** Default 127.0.0.1; other addresses than loopback require credentials. */
  host?: string
  /** Accepted credentials; without any, every client that reaches the address is accepted. */
  credentials?: readonly Credentials[]
  /** Decides whether a signature is recent. */
  clock?: Clock
  /** Default 0: a free port. */
  port?: number
  /** How long a client may take to send a request. */
  requestTimeoutMs?: number
}

export interface DynamoServer extends AsyncDisposable {
  readonly host: string
  readonly port: number
  readonly url: string
  /** Stops accepting requests and resolves when those in progress have finished. The engine stays open. */
  close(): Promise<void>
}

/** Serves an engine over HTTP. Throws for an address that other machines can reach, unless signed. */
export async function serve(engine: Engine, options: ServeOptions = {}): Promise<DynamoServer> {
  const { host = '127.0.0.1', port = 0, requestTimeoutMs = 30_000 } = options
  const verifier = options.credentials && verifierOf(options.credentials, options.clock)
  if (!verifier && !isLoopback(host)) {
    throw new Error(
      `Cannot listen on "${host}": requests are not verified, so only loopback is safe`,
    )
  }
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(requestTimeoutMs, 1000),
      keepAliveTimeout: 60_000,
    },
    (request, response) => {
      handleRequest(engine, verifier, request, response).catch(() => response.destroy())
    },
  )
  server.on('clientError', rejectBroken)
  // A closing server no longer enforces the request timeout.
  const close = enableGracefulClose(server, requestTimeoutMs)
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  return {
    host,
    port: address.port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function verifierOf(credentials: readonly Credentials[], clock: Clock = systemClock): Verifier {
  return { service: 'dynamodb', known: indexCredentials(credentials), clock }
}

async function handleRequest(
  engine: Engine,
  verifier: Verifier | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { statusCode, text, contentType } = await execute(engine, verifier, request)
  const encoded = encodeResponse(text, request.headers['accept-encoding'])
  const { content, headers } = encoded instanceof Promise ? await encoded : encoded
  if (request.destroyed && !request.complete) return
  if (!request.complete) discardRest(request, { bytes: MAX_DISCARDED_BYTES })
  headers.push('content-type', contentType ?? CONTENT_TYPE, 'x-amzn-requestid', randomUUID())
  response.writeHead(statusCode, headers)
  // On 'finish' the operating system has taken all bytes.
  if (typeof text !== 'string') response.once('finish', () => release(text))
  await endOfTurn()
  response.end(content)
}

let turn: Promise<void> | undefined

/**
 * Responses of one turn of the event loop are sent together, because waking the client for each one costs
 * a quarter of a small read.
 */
function endOfTurn(): Promise<void> {
  turn ??= nextTurn().then(() => (turn = undefined))
  return turn
}

interface Answer {
  statusCode: number
  text: string | Buffer
  /** That of the protocol, unless given. */
  contentType?: string
}

async function execute(
  engine: Engine,
  verifier: Verifier | undefined,
  request: IncomingMessage,
): Promise<Answer> {
  try {
    if (isHealthCheck(request)) {
      if (!verifier) refuseForeignHost(request)
      return { statusCode: 200, text: healthText(engine), contentType: 'text/plain' }
    }
    const operation = readHeaders(request)
    const claim = verifier ? parseSignature(request.headers, verifier) : refuseForeignHost(request)
    const body = await readBody(request)
    if (claim) verifySignature(claim, body)
    const address = operation === 'DescribeEndpoints' ? request.headers.host : undefined
    return { statusCode: 200, text: await engine.handle(operation, parse(body), address) }
  } catch (error) {
    const { statusCode, body } = wireFailure(
      error instanceof SignatureError ? new DynamoError(error.name, error.message) : error,
    )
    return { statusCode, text: JSON.stringify(body) }
  }
}

function isHealthCheck({ method, url }: IncomingMessage): boolean {
  return method === 'GET' && url === '/'
}

/** AWS's text ends with a space. */
function healthText({ region }: Engine): string {
  return `healthy: dynamodb.${region}.amazonaws.com `
}

/** The requested operation; throws for every request that a web page could send. */
function readHeaders(request: IncomingMessage): string {
  const { 'content-type': type = '', 'x-amz-target': target } = request.headers
  if (request.method !== 'POST' || typeof target !== 'string') {
    throw new DynamoError('UnknownOperationException', '', 404)
  }
  if (type !== CONTENT_TYPE && type.split(';', 1)[0]?.trim().toLowerCase() !== CONTENT_TYPE) {
    throw new DynamoError('UnknownOperationException', '', 404)
  }
  const operation = operationOf(target)
  if (operation === undefined) throw unknownOperation()
  return operation
}

/** Rejects JSON that nests deeper than any request: parsing it would take memory far beyond its size. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const read = await readRequestBody(request, MAX_BODY_BYTES)
  if (read.kind === 'incomplete') throw new Error('The client disconnected')
  if (read.kind === 'too_large') {
    throw new DynamoError(
      'RequestEntityTooLargeException',
      'Request size exceeds the limit of 16 MB',
      413,
    )
  }
  const { bytes } = read
  if (bytes.length > MIN_CHECKED_BYTES && isJsonDeeperThan(bytes, MAX_BODY_DEPTH)) {
    throw serializationError('')
  }
  return bytes
}

function refuseForeignHost(request: IncomingMessage): undefined {
  const { host = '' } = request.headers
  if (isLoopback(host.replace(/:\d+$/, ''))) return undefined
  throw new DynamoError(
    'AccessDeniedException',
    'The Host of a request must be a loopback name: requests are not verified',
    403,
  )
}

/** Whether the address or name is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host)
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    throw serializationError('')
  }
}

const rejectBroken = rejectBrokenRequests(CONTENT_TYPE, (reason) =>
  JSON.stringify(
    wireFailure(
      reason === 'timeout'
        ? new DynamoError('RequestTimeoutException', 'The request took too long to arrive', 408)
        : new DynamoError('SerializationException', '', 400),
    ).body,
  ),
)
