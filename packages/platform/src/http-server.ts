/** Graceful close of HTTP servers, and responses to malformed requests. */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How long a connection that looks idle stays open, because a request may be on its way. */
const IDLE_GRACE_MS = 50

type Responses = Set<ServerResponse>

/**
 * Prepares a server, before it listens, to lose no response: neither if a client half-closes its
 * connection and waits, nor if the server closes while requests are running. Returns the function that
 * closes it: new connections are refused, the last response on each connection says `close`, and requests
 * that take longer than `graceMs` are aborted.
 */
export function enableGracefulClose(server: Server, graceMs: number): () => Promise<void> {
  // Otherwise Node ends a half-closed connection even before the response. Node has had this undocumented
  // property since its first versions.
  Object.assign(server, { httpAllowHalfOpen: true })
  /** The running responses of each connection: more than one if the client pipelines. */
  const connections = new Map<Socket, Responses>()
  let closing: Promise<void> | undefined

  server.on('connection', (socket) => {
    connections.set(socket, new Set())
    socket.once('close', () => connections.delete(socket))
  })
  // Before the handler of the request, which may respond synchronously.
  server.prependListener('request', ({ socket }, response) => {
    const responses = connections.get(socket)
    if (!responses) return
    responses.add(response)
    if (closing) announceEnd(responses)
    response.once('close', () => {
      responses.delete(response)
      if (closing) endIfIdle(socket, responses)
    })
  })

  async function close(): Promise<void> {
    const cutOff = setTimeout(() => server.closeAllConnections(), graceMs)
    // Node would end idle connections without the grace period, and would miss those that have not sent
    // a request yet or become idle later.
    server.closeIdleConnections = () => {}
    await new Promise((resolve) => {
      server.close(resolve)
      for (const [socket, responses] of connections) {
        announceEnd(responses)
        endIfIdle(socket, responses)
      }
    })
    clearTimeout(cutOff)
  }
  return () => (closing ??= close())
}

/** Set on the last response, because Node ends the connection after a response that says `close`. */
function announceEnd(responses: Responses): void {
  const last = [...responses].at(-1)
  for (const response of responses) response.shouldKeepAlive = response !== last
}

/** After a grace period, because the client does not know yet and may be sending a request. */
function endIfIdle(socket: Socket, responses: Responses): void {
  if (responses.size > 0) return
  const end = () => {
    if (responses.size === 0) socket.destroy()
  }
  // Bytes that have arrived are read before the next immediate, however busy the process is.
  setTimeout(() => setImmediate(end), IDLE_GRACE_MS).unref()
}

/**
 * A listener for `clientError`: responds to malformed HTTP (400) and to requests that take too long to
 * arrive (408), with the JSON of the protocol.
 */
export function rejectBrokenRequests(
  contentType: string,
  toJson: (reason: 'timeout' | 'malformed') => string,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
    const json = toJson(isTimeout ? 'timeout' : 'malformed')
    socket.end(
      `HTTP/1.1 ${isTimeout ? '408 Request Timeout' : '400 Bad Request'}\r\n` +
        `content-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(json)}\r\n` +
        `connection: close\r\n\r\n${json}`,
    )
  }
}
