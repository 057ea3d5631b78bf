/**
 * The wire face: AWS KMS's protocol over HTTP, for SDKs of any language.
 *
 * Who may decrypt has the master key in effect, so every request must be signed, and it is reachable
 * from this machine only: on 127.0.0.1 or on a socket of this user. There is no unsigned mode.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { loseNoAnswers } from '@strongroom/engine/http-connections'
import {
  type Credentials,
  knownCredentials,
  readClaim,
  requireSigned,
  SignatureError,
  type Verifier,
} from '@strongroom/engine/signature'
import { KmsError } from './errors.ts'
import type { EmbeddedKms } from './kms.ts'
import { listen, type Place } from './listen.ts'
import { cannotAnswer, CONTENT_TYPE, execute, type WireAnswer, wireFailure } from './protocol.ts'
import { discardBody, readBody } from './request-body.ts'

export type ServeKmsOptions = Place & {
  /** Who may call; the access key stands in audit records as the caller. */
  credentials: readonly Credentials[]
  /** How long a client may take to send a request. */
  requestTimeoutMs?: number
  /** Gets what clients are not told of: why the KMS could not answer, with paths of this machine. */
  onFailure?: (error: unknown) => void
}

export interface KmsServer extends AsyncDisposable {
  /** Undefined on a socket. */
  readonly port: number | undefined
  /** Takes no more requests and resolves when those under way are answered. */
  close(): Promise<void>
}

export async function serveKms(kms: EmbeddedKms, options: ServeKmsOptions): Promise<KmsServer> {
  const { requestTimeoutMs = 30_000, onFailure = () => {} } = options
  const known = knownCredentials(options.credentials)
  const verifier: Verifier = { service: 'kms', known, clock: kms.clock }
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(requestTimeoutMs, 1000),
      keepAliveTimeout: 60_000,
    },
    (request, response) => {
      answer(kms, verifier, request, onFailure)
        .then((result) => send(request, response, result))
        .catch(() => response.destroy())
    },
  )
  server.on('clientError', refuseBrokenRequest)
  // A closing server no longer looks for requests that take too long to arrive.
  const close = loseNoAnswers(server, requestTimeoutMs)
  await listen(server, options)
  const address = server.address() as AddressInfo | string
  return {
    port: typeof address === 'string' ? undefined : address.port,
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function answer(
  kms: EmbeddedKms,
  verifier: Verifier,
  request: IncomingMessage,
  onFailure: (error: unknown) => void,
): Promise<WireAnswer> {
  try {
    const { method, url, headers } = request
    if (method !== 'POST' || url !== '/') {
      throw new KmsError('UnknownOperationException', 'Requests to a KMS are POST /', 404)
    }
    const claim = readClaim(headers, verifier)
    const body = await readBody(request)
    requireSigned(claim, body)
    const target = headers['x-amz-target']
    return await execute(
      kms.as(claim.credentials.accessKeyId),
      typeof target === 'string' ? target : undefined,
      body,
    )
  } catch (error) {
    const failure = wireFailure(
      error instanceof SignatureError ? new KmsError(error.name, error.message, 403) : error,
    )
    if (failure.statusCode < 500) return failure
    // A client that went away is no failure of the KMS.
    if (request.complete) onFailure(error)
    return wireFailure(cannotAnswer())
  }
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { statusCode, body }: WireAnswer,
): void {
  if (request.destroyed && !request.complete) return
  const text = Buffer.from(JSON.stringify(body))
  if (!request.complete) discardBody(request)
  response.writeHead(statusCode, {
    'content-type': CONTENT_TYPE,
    'content-length': text.length,
    'x-amzn-requestid': randomUUID(),
  })
  response.end(text)
}

/** Bytes that are no HTTP request, and requests that take too long. */
function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const text = JSON.stringify({
    __type: late ? 'RequestTimeoutException' : 'SerializationException',
  })
  socket.end(
    `HTTP/1.1 ${late ? '408 Request Timeout' : '400 Bad Request'}\r\n` +
      `content-type: ${CONTENT_TYPE}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n` +
      `connection: close\r\n\r\n${text}`,
  )
}
