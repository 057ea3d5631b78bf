/**
 * The wire face: DynamoDB's JSON 1.0 protocol over HTTP, for SDKs of any language.
 *
 * With credentials, every request must be signed with one of them. Without, it listens on loopback
 * addresses only, and it must be out of reach of web pages too: no CORS headers, no answer without the
 * headers that make a browser ask first, and none to a Host that is not this machine. TLS and HTTP/2
 * are left out.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Clock, systemClock } from './clock.ts'
import type { Engine } from './engine.ts'
import { DynamoError, serializationError, unknownOperation } from './errors.ts'
import { loseNoAnswers } from './http-connections.ts'
import { operationOf } from './operations/targets.ts'
import { wireFailure } from './operations/wire-failure.ts'
import { giveBack } from './operations/wire-page.ts'
import { encodedAnswer } from './protocol-answer.ts'
import { discardBody, readBody } from './protocol-body.ts'
import {
  type Credentials,
  knownCredentials,
  readClaim,
  requireSigned,
  SignatureError,
  type Verifier,
} from './signature.ts'

const CONTENT_TYPE = 'application/x-amz-json-1.0'
const LOOPBACK = /^(localhost|[a-z0-9-]+(\.[a-z0-9-]+)*\.localhost|127(\.\d{1,3}){3}|\[::1\]|::1)$/i

export interface ServeOptions {
  /** 127.0.0.1 if not given; other than loopback only with credentials. */
  host?: string
  /** Who may call; without any, whoever reaches the address. */
  credentials?: readonly Credentials[]
  /** By which signatures are told to be of now. */
  clock?: Clock
  /** 0, or none, takes a free one. */
  port?: number
  /** How long a client may take to send a request. */
  requestTimeoutMs?: number
}

export interface DynamoServer extends AsyncDisposable {
  readonly host: string
  readonly port: number
  readonly url: string
  /** Takes no more requests and resolves when those under way are answered. The engine stays open. */
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
      answer(engine, verifier, request, response).catch(() => response.destroy())
    },
  )
  server.on('clientError', refuseBrokenRequest)
  // A closing server no longer looks for requests that take too long to arrive.
  const close = loseNoAnswers(server, requestTimeoutMs)
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
  return { service: 'dynamodb', known: knownCredentials(credentials), clock }
}

async function answer(
  engine: Engine,
  verifier: Verifier | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { statusCode, text } = await execute(engine, verifier, request)
  const encoded = encodedAnswer(text, request.headers['accept-encoding'])
  const { content, headers } = encoded instanceof Promise ? await encoded : encoded
  if (request.destroyed && !request.complete) return
  if (!request.complete) discardBody(request)
  headers.push('content-type', CONTENT_TYPE, 'x-amzn-requestid', randomUUID())
  response.writeHead(statusCode, headers)
  // By then the system has taken all of it.
  if (typeof text !== 'string') response.once('finish', () => giveBack(text))
  await endOfTurn()
  response.end(content)
}

let turn: Promise<void> | undefined

/**
 * Answers of one turn go out one right after the other: the first wakes whoever waits for it, and to
 * wake a client for each by itself is a quarter of what a small read costs.
 */
function endOfTurn(): Promise<void> {
  turn ??= nextTurn().then(() => (turn = undefined))
  return turn
}

async function execute(
  engine: Engine,
  verifier: Verifier | undefined,
  request: IncomingMessage,
): Promise<{ statusCode: number; text: string | Buffer }> {
  try {
    const operation = readHeaders(request)
    const claim = verifier ? readClaim(request.headers, verifier) : refuseForeignHost(request)
    const body = await readBody(request)
    if (claim) requireSigned(claim, body)
    return { statusCode: 200, text: await engine.handle(operation, parse(body)) }
  } catch (error) {
    const { statusCode, body } = wireFailure(
      error instanceof SignatureError ? new DynamoError(error.name, error.message) : error,
    )
    return { statusCode, text: JSON.stringify(body) }
  }
}

/** The operation asked for; throws for whatever a web page could send. */
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

function refuseForeignHost(request: IncomingMessage): undefined {
  const { host = '' } = request.headers
  if (isLoopback(host.replace(/:\d+$/, ''))) return undefined
  throw new DynamoError(
    'AccessDeniedException',
    'The Host of a request must be a loopback name: requests are not verified',
    403,
  )
}

/** Whether nobody but this machine reaches the address or goes by the name. */
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

/** Bytes that are no HTTP request, and requests that take too long. */
function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const failure = late
    ? new DynamoError('RequestTimeoutException', 'The request took too long to arrive', 408)
    : new DynamoError('SerializationException', '', 400)
  const text = JSON.stringify(wireFailure(failure).body)
  socket.end(
    `HTTP/1.1 ${late ? '408 Request Timeout' : '400 Bad Request'}\r\n` +
      `content-type: ${CONTENT_TYPE}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n` +
      `connection: close\r\n\r\n${text}`,
  )
}
