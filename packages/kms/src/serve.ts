/**
 * The wire face: AWS KMS's protocol over HTTP, for SDKs of any language.
 *
 * A caller that can decrypt effectively has the master key, so every request must be signed, and the
 * server is reachable only from this machine: on 127.0.0.1 or on a socket of this user.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, lstat, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import {
  type Credentials,
  indexCredentials,
  parseSignature,
  verifySignature,
  SignatureError,
  type Verifier,
} from '@strongroom/platform/aws-signature'
import { enableGracefulClose, rejectBrokenRequests } from '@strongroom/platform/http-server'
import { discardRest, readRequestBody } from '@strongroom/platform/read-body'
import { KmsError } from './errors.ts'
import type { EmbeddedKms } from './kms.ts'
import { cannotAnswer, CONTENT_TYPE, execute, type WireResponse, wireFailure } from './protocol.ts'

/** Ten grant tokens of 8192 characters, a blob, a plaintext, and room for contexts. */
const MAX_BODY_BYTES = 256 * 1024
/** The rest of a rejected body is read up to this limit, so that the client can read the response. */
const MAX_DISCARDED_BYTES = 16 * MAX_BODY_BYTES

export type ServeKmsOptions = Place & {
  /** Accepted credentials; audit records name the access key as the caller. */
  credentials: readonly Credentials[]
  /** How long a client may take to send a request. */
  requestTimeoutMs?: number
  /** Receives the reason of internal failures, with local paths that clients must not see. */
  onFailure?: (error: unknown) => void
}

export interface KmsServer extends AsyncDisposable {
  /** Undefined on a socket. */
  readonly port: number | undefined
  /** Stops accepting requests and resolves when those in progress have finished. */
  close(): Promise<void>
}

export async function serveKms(kms: EmbeddedKms, options: ServeKmsOptions): Promise<KmsServer> {
  const { requestTimeoutMs = 30_000, onFailure = () => {} } = options
  const known = indexCredentials(options.credentials)
  const verifier: Verifier = { service: 'kms', known, clock: kms.clock }
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(requestTimeoutMs, 1000),
      keepAliveTimeout: 60_000,
    },
    (request, response) => {
      handleRequest(kms, verifier, request, onFailure)
        .then((result) => send(request, response, result))
        .catch(() => response.destroy())
    },
  )
  server.on('clientError', rejectBroken)
  // A closing server no longer enforces the request timeout.
  const close = enableGracefulClose(server, requestTimeoutMs)
  await listen(server, options)
  const address = server.address() as AddressInfo | string
  return {
    port: typeof address === 'string' ? undefined : address.port,
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function handleRequest(
  kms: EmbeddedKms,
  verifier: Verifier,
  request: IncomingMessage,
  onFailure: (error: unknown) => void,
): Promise<WireResponse> {
  try {
    const { method, url, headers } = request
    if (method !== 'POST' || url !== '/') {
      throw new KmsError('UnknownOperationException', 'Requests to a KMS are POST /', 404)
    }
    const claim = parseSignature(headers, verifier)
    const body = await readBody(request)
    verifySignature(claim, body)
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
    // A client that disconnected is not a failure of the KMS.
    if (request.complete) onFailure(error)
    return wireFailure(cannotAnswer())
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const read = await readRequestBody(request, MAX_BODY_BYTES)
  if (read.kind === 'read') return read.bytes
  if (read.kind === 'incomplete') throw new Error('The client disconnected')
  throw new KmsError('RequestEntityTooLargeException', 'The request is too large', 413)
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { statusCode, body }: WireResponse,
): void {
  if (request.destroyed && !request.complete) return
  const text = Buffer.from(JSON.stringify(body))
  if (!request.complete) discardRest(request, { bytes: MAX_DISCARDED_BYTES })
  response.writeHead(statusCode, {
    'content-type': CONTENT_TYPE,
    'content-length': text.length,
    'x-amzn-requestid': randomUUID(),
  })
  response.end(text)
}

const rejectBroken = rejectBrokenRequests(CONTENT_TYPE, (reason) =>
  JSON.stringify({
    __type: reason === 'timeout' ? 'RequestTimeoutException' : 'SerializationException',
  }),
)

// The HTTP face listens on a port of 127.0.0.1 or on a socket that only this user can open.

const LOOPBACK = '127.0.0.1'

export type Place =
  | {
      /** On 127.0.0.1; 0 chooses a free port. */
      port: number
    }
  | { socketPath: string }

export async function listen(server: Server, place: Place): Promise<void> {
  if ('port' in place) {
    server.listen(place.port, LOOPBACK)
    await once(server, 'listening')
    return
  }
  const { socketPath } = place
  await clearAbandoned(socketPath)
  server.listen(socketPath)
  await once(server, 'listening')
  // Before this it had the permissions of a new file, but requests must be signed anyway.
  if (process.platform !== 'win32') await chmod(socketPath, 0o600)
}

/** Removes a socket without a listener, which a crash left. */
async function clearAbandoned(socketPath: string): Promise<void> {
  const found = await lstat(socketPath).catch(() => undefined)
  if (!found) return
  if (!found.isSocket()) {
    throw new Error(`Cannot listen on "${socketPath}": a file with that name exists`)
  }
  if (await isAnswered(socketPath)) {
    throw new Error(`Cannot listen on "${socketPath}": another process is listening there`)
  }
  await rm(socketPath)
}

async function isAnswered(socketPath: string): Promise<boolean> {
  const socket = connect(socketPath)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
