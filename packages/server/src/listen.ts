/** A listening HTTP server that can be told what to serve later, and that ends in good order. */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { NodeRoutes } from '@strongroom/kit/http/node-routes'

type Fetch = (request: Request, env: object) => Response | Promise<Response>

export interface Listener {
  port: number
  /** Starts answering, by what Node may answer first; until then requests wait their turn with "not yet". */
  serve(fetch: Fetch, node?: NodeRoutes): void
  /** Stops taking requests, finishes those that are running, then ends. */
  close(): Promise<void>
}

/** The address cannot be had; the message is one line that says what to do. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen'
}

/** A request that takes longer than this does not hold up the end of the server. */
const GRACE_MS = 10_000
/** A request may be on its way on a connection that looks idle, and is answered too. */
const ON_ITS_WAY_MS = 50

export async function listen(host: string, port: number): Promise<Listener> {
  let fetch: Fetch = () =>
    new Response('Starting', { status: 503, headers: { 'retry-after': '1' } })
  let node: NodeRoutes = () => false
  const answer = getRequestListener((request, env) => fetch(request, env))
  const server = createServer(
    // Slow senders are cut off: they hold a connection for nothing.
    { requestTimeout: 60_000, headersTimeout: 20_000, keepAliveTimeout: 65_000 },
    (request, response) => void (node(request, response) || answer(request, response)),
  )
  const connections = connectionsOf(server)
  await started(server, host, port)
  return {
    port: (server.address() as AddressInfo).port,
    serve(nextFetch, nextNode) {
      fetch = nextFetch
      node = nextNode ?? node
    },
    close: () => closed(server, connections),
  }
}

async function started(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenFailure(error, host, port)))
    server.listen(port, host, resolve)
  })
}

/** Why an address cannot be had, from what the system said. */
export function listenFailure(
  { code, message }: NodeJS.ErrnoException,
  host: string,
  port: number,
): CannotListen {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} of ${host} is in use: stop what uses it, or choose another port`,
    EACCES: `Port ${port} needs more rights than this user has: choose one above 1023`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: choose another host`,
    ENOTFOUND: `The host name ${host} is not known: choose another host`,
  }
  return new CannotListen(reasons[code ?? ''] ?? `Cannot listen on ${host}:${port}: ${message}`)
}

interface Connections {
  /** No request is running on these. */
  idle: Set<Socket>
  /** The answers that are under way; more than one if the client does not wait for them. */
  running: Map<Socket, Set<ServerResponse>>
}

/**
 * Keeps the connections, and once the server is closing ends each one with its last answer, which
 * says so. Node's own closeIdleConnections knows neither connections that have not asked yet nor
 * those that become idle later, and would wait for their time-outs.
 */
function connectionsOf(server: Server): Connections {
  const idle = new Set<Socket>()
  const running: Connections['running'] = new Map()
  server.on('connection', (socket) => {
    idle.add(socket)
    socket.once('close', () => idle.delete(socket))
  })
  // Before the request is answered.
  server.prependListener('request', ({ socket }, response) => {
    idle.delete(socket)
    const answers = running.get(socket) ?? new Set()
    running.set(socket, answers.add(response))
    if (!server.listening) announceEnd(answers)
    response.once('close', () => {
      answers.delete(response)
      if (answers.size > 0) return
      running.delete(socket)
      if (!server.listening) socket.destroySoon()
      else if (!socket.destroyed) idle.add(socket)
    })
  })
  return { idle, running }
}

/** Unless more answers follow: Node ends the connection after the one that says so. */
function announceEnd(answers: ReadonlySet<ServerResponse>): void {
  if (answers.size > 1) return
  for (const answer of answers) answer.shouldKeepAlive = false
}

async function closed(server: Server, { idle, running }: Connections): Promise<void> {
  const late = setTimeout(() => server.closeAllConnections(), GRACE_MS)
  // What has come meanwhile is read before the next immediate, however busy the process is.
  const quiet = setTimeout(() => setImmediate(() => endAll(idle)), ON_ITS_WAY_MS)
  // Node would end them at once.
  server.closeIdleConnections = () => {}
  await new Promise((resolve) => {
    server.close(resolve)
    for (const answers of running.values()) announceEnd(answers)
  })
  clearTimeout(late)
  clearTimeout(quiet)
}

function endAll(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.destroy()
}
