/**
 * The wire face: DynamoDB's JSON 1.0 protocol over HTTP, for SDKs of any language.
 *
 * Signatures are not checked, so it listens on loopback addresses only, and it must be out of reach
 * of web pages too: no CORS headers, no answer without the headers that make a browser ask first, and
 * none to a Host that is not this machine. TLS and HTTP/2 are left out.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { crc32 } from 'node:zlib'
import type { Engine } from './engine.ts'
import { DynamoError, serializationError, unknownOperation } from './errors.ts'
import { operationOf } from './operations/targets.ts'
import { wireFailure } from './operations/wire-failure.ts'
import { discardBody, readBody } from './protocol-body.ts'

const CONTENT_TYPE = 'application/x-amz-json-1.0'
const LOOPBACK = /^(localhost|[a-z0-9-]+(\.[a-z0-9-]+)*\.localhost|127(\.\d{1,3}){3}|\[::1\]|::1)$/i

export interface ServeOptions {
  /** A loopback address; 127.0.0.1 if not given. */
  host?: string
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

/** Serves an engine over HTTP. Throws for an address that other machines can reach. */
export async function serve(engine: Engine, options: ServeOptions = {}): Promise<DynamoServer> {
  const { host = '127.0.0.1', port = 0, requestTimeoutMs = 30_000 } = options
  if (!LOOPBACK.test(host)) {
    throw new Error(
      `Cannot listen on "${host}": requests are not verified, so only loopback is safe`,
    )
  }
  let closing: Promise<void> | undefined
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(requestTimeoutMs, 1000),
      keepAliveTimeout: 60_000,
    },
    (request, response) => {
      answer(engine, request, response, () => closing !== undefined).catch(() => {
        response.destroy()
      })
    },
  )
  server.on('clientError', refuseBrokenRequest)
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  const close = () => (closing ??= closed(server, requestTimeoutMs))
  return {
    host,
    port: address.port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function closed(server: Server, requestTimeoutMs: number): Promise<void> {
  const done = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  // A closing server no longer looks for requests that take too long to arrive.
  const patience = setTimeout(() => server.closeAllConnections(), requestTimeoutMs)
  await done
  clearTimeout(patience)
}

async function answer(
  engine: Engine,
  request: IncomingMessage,
  response: ServerResponse,
  isClosing: () => boolean,
): Promise<void> {
  const { statusCode, body } = await execute(engine, request)
  if (request.destroyed && !request.complete) return
  const text = Buffer.from(JSON.stringify(body))
  if (!request.complete) discardBody(request)
  response.writeHead(statusCode, {
    'content-type': CONTENT_TYPE,
    'content-length': text.length,
    'x-amzn-requestid': randomUUID(),
    'x-amz-crc32': `${crc32(text)}`,
    ...(isClosing() && { connection: 'close' }),
  })
  response.end(text)
}

async function execute(
  engine: Engine,
  request: IncomingMessage,
): Promise<{ statusCode: number; body: object }> {
  try {
    const operation = readHeaders(request)
    const body = parse(await readBody(request))
    return { statusCode: 200, body: await engine.handle(operation, body) }
  } catch (error) {
    return wireFailure(error)
  }
}

/** The operation asked for; throws for whatever a web page could send. */
function readHeaders(request: IncomingMessage): string {
  const { host, 'content-type': type = '', 'x-amz-target': target } = request.headers
  if (request.method !== 'POST' || typeof target !== 'string') {
    throw new DynamoError('UnknownOperationException', '', 404)
  }
  if (type.split(';', 1)[0]?.trim().toLowerCase() !== CONTENT_TYPE) {
    throw new DynamoError('UnknownOperationException', '', 404)
  }
  if (!isLoopback(host)) {
    throw new DynamoError(
      'AccessDeniedException',
      'The Host of a request must be a loopback name: requests are not verified',
      403,
    )
  }
  const operation = operationOf(target)
  if (operation === undefined) throw unknownOperation()
  return operation
}

function isLoopback(host: string | undefined): boolean {
  return host !== undefined && LOOPBACK.test(host.replace(/:\d+$/, ''))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
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
