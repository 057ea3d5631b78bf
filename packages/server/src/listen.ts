/** A listening HTTP server that can be told what to serve later, and that ends in good order. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { loseNoAnswers } from '@strongroom/engine/http-connections'
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
  const close = loseNoAnswers(server, GRACE_MS)
  await started(server, host, port)
  return {
    port: (server.address() as AddressInfo).port,
    serve(nextFetch, nextNode) {
      fetch = nextFetch
      node = nextNode ?? node
    },
    close,
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
