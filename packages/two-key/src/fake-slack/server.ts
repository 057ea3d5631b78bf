/** Serves the fake Slack on a local port, with routes to control its faults. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import * as z from 'zod'
import type { FakeSlack } from './fake-slack.ts'

export interface FakeSlackServer {
  /** The value for `slackApiUrl`: `http://127.0.0.1:8070/api/`. */
  url: string
  close(): Promise<void>
}

const Broken = z.intersection(
  z.object({
    method: z.string().exactOptional(),
    times: z.number().int().positive().exactOptional(),
  }),
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('hang') }),
    z.object({ kind: z.literal('slow'), ms: z.number().int().min(0).max(600_000) }),
    z.object({
      kind: z.literal('rate_limit'),
      retryAfter: z.number().int().min(0).exactOptional(),
    }),
    z.object({ kind: z.literal('status'), status: z.number().int().min(400).max(599) }),
    z.object({
      kind: z.literal('html'),
      status: z.number().int().min(200).max(599).exactOptional(),
    }),
    z.object({ kind: z.literal('reset') }),
    z.object({ kind: z.literal('error'), error: z.string() }),
  ]),
)

export async function serveFakeSlack(slack: FakeSlack, port: number): Promise<FakeSlackServer> {
  const server = createServer((req, res) => {
    void respond(slack, req, res)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${bound}/api/`,
    close: async () => {
      await new Promise((resolve) => {
        server.close(resolve)
        // Calls that hang would keep their connections open.
        server.closeAllConnections()
      })
    },
  }
}

async function respond(slack: FakeSlack, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const disconnected = new AbortController()
  res.once('close', () => disconnected.abort())
  try {
    const body = await buffer(req)
    const url = new URL(req.url ?? '/', 'http://127.0.0.1')
    const response = url.pathname.startsWith('/fake/')
      ? control(slack, req.method ?? 'GET', url.pathname, body.toString())
      : await slack.fetch(url, {
          method: req.method === 'GET' ? 'GET' : 'POST',
          headers: headersOf(req),
          signal: disconnected.signal,
          ...(req.method === 'GET' ? {} : { body }),
        })
    res.writeHead(response.status, Object.fromEntries(response.headers))
    res.end(Buffer.from(await response.arrayBuffer()))
  } catch {
    // A reset fault, or the client has disconnected.
    res.destroy()
  }
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const { authorization, 'content-type': contentType } = headers
  return {
    ...(authorization === undefined ? {} : { authorization }),
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
  }
}

function control(slack: FakeSlack, method: string, path: string, body: string): Response {
  if (path === '/fake/calls' && method === 'GET') return Response.json(slack.calls())
  if (path === '/fake/faults' && method === 'DELETE') {
    slack.repair()
    return Response.json({ ok: true })
  }
  if (path === '/fake/faults' && method === 'POST') {
    const fault = Broken.safeParse(jsonOf(body))
    if (!fault.success) {
      const error = 'Send a fault as JSON, such as {"kind":"rate_limit","retryAfter":30}'
      return Response.json({ ok: false, error }, { status: 400 })
    }
    slack.break(fault.data)
    return Response.json({ ok: true })
  }
  return Response.json({ ok: false, error: 'Not found' }, { status: 404 })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
