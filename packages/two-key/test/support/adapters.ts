/** The same request through every adapter. */
import { once } from 'node:events'
import { createServer, request as httpRequest, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { Hono } from 'hono'
import { twoKeyFetch } from '../../src/adapters/fetch.ts'
import { twoKeyHono } from '../../src/adapters/hono.ts'
import { type LambdaEvent, type LambdaResult, twoKeyLambda } from '../../src/adapters/lambda.ts'
import { twoKeyMiddleware, twoKeyNode, type VerifiedMessage } from '../../src/adapters/node.ts'
import type { Verified } from '../../src/adapters/respond.ts'
import type { TwoKey } from '../../src/verify.ts'
import type { Signed } from './signed.ts'

interface AdapterResponse {
  status: number
  headers: Record<string, unknown>
  body: string
  /** What reached the handler. */
  handled: Verified[]
}

export type Adapter = (keys: TwoKey, request: Signed) => Promise<AdapterResponse>

const HANDLED = 'handled'

async function ofResponse(response: Response, handled: Verified[]): Promise<AdapterResponse> {
  const headers = Object.fromEntries(response.headers)
  return { status: response.status, headers, body: await response.text(), handled }
}

/** A request to a listener of Node, over a real connection. */
export async function overHttp(listener: RequestListener, { rawBody, headers }: Signed) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo
    const asking = httpRequest({ port, method: 'POST', path: '/slack/events', headers }).end(
      rawBody,
    )
    const [response] = await once(asking, 'response')
    // The rest of a body that is too large is not read.
    asking.on('error', () => {})
    const { statusCode = 0, headers: answered } = response
    return { status: Number(statusCode), headers: answered, body: String(await buffer(response)) }
  } finally {
    server.close().closeAllConnections()
  }
}

function ofLambda(eventOf: (request: Signed) => LambdaEvent): Adapter {
  return async (keys, request) => {
    const handled: Verified[] = []
    const handler = twoKeyLambda<LambdaEvent, object, LambdaResult>(
      keys,
      async (_, __, verified) => {
        handled.push(verified)
        return { statusCode: 200, body: HANDLED }
      },
    )
    const { statusCode, headers = {}, body = '' } = await handler(eventOf(request), {})
    return { status: statusCode, headers, body, handled }
  }
}

const shouted = (headers: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()),
      value,
    ]),
  )

/** Further attributes as AWS sends them; the adapter needs none of them. */
type SentEvent = LambdaEvent & Record<string, unknown>

export const lambdaEvents = {
  'Lambda, first format': ({ rawBody, headers }: Signed): SentEvent => ({
    resource: '/slack/events',
    path: '/slack/events',
    httpMethod: 'POST',
    requestContext: {},
    headers: shouted(headers),
    multiValueHeaders: Object.fromEntries(
      Object.entries(shouted(headers)).map(([name, value]) => [name, [value]]),
    ),
    body: rawBody.toString('utf8'),
    isBase64Encoded: false,
  }),
  'Lambda, second format': ({ rawBody, headers }: Signed): SentEvent => ({
    version: '2.0',
    routeKey: '$default',
    rawPath: '/slack/events',
    rawQueryString: '',
    headers,
    body: rawBody.toString('utf8'),
    isBase64Encoded: false,
  }),
  'Lambda, function URL': ({ rawBody, headers }: Signed): SentEvent => ({
    version: '2.0',
    rawPath: '/',
    requestContext: { http: { method: 'POST' } },
    headers,
    body: rawBody.toString('base64'),
    isBase64Encoded: true,
  }),
  'Lambda, load balancer': ({ rawBody, headers }: Signed): SentEvent => ({
    requestContext: { elb: {} },
    httpMethod: 'POST',
    path: '/slack/events',
    multiValueHeaders: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value]]),
    ),
    body: rawBody.toString('base64'),
    isBase64Encoded: true,
  }),
}

export const adapters: Readonly<Record<string, Adapter>> = {
  async fetch(keys, { rawBody, headers }) {
    const handled: Verified[] = []
    const handler = twoKeyFetch(keys, (_request, verified) => {
      handled.push(verified)
      return new Response(HANDLED)
    })
    const url = 'https://app.example/slack/events'
    return ofResponse(
      await handler(new Request(url, { method: 'POST', headers, body: rawBody })),
      handled,
    )
  },

  async Node(keys, request) {
    const handled: Verified[] = []
    const listener = twoKeyNode(keys, (req, res) => {
      handled.push(req.twoKey)
      res.end(HANDLED)
    })
    return { ...(await overHttp((req, res) => void listener(req, res), request)), handled }
  },

  async middleware(keys, request) {
    const handled: Verified[] = []
    const middleware = twoKeyMiddleware(keys)
    const listener: RequestListener = (req, res) => {
      void middleware(req, res, (error) => {
        handled.push((req as VerifiedMessage).twoKey)
        res.end(error === undefined ? HANDLED : 'failed')
      })
    }
    return { ...(await overHttp(listener, request)), handled }
  },

  async Hono(keys, { rawBody, headers }) {
    const handled: Verified[] = []
    const app = new Hono().post('/slack/events', twoKeyHono(keys), (c) => {
      handled.push(c.get('twoKey'))
      return c.text(HANDLED)
    })
    return ofResponse(
      await app.request('/slack/events', { method: 'POST', headers, body: rawBody }),
      handled,
    )
  },

  ...Object.fromEntries(
    Object.entries(lambdaEvents).map(([name, eventOf]) => [name, ofLambda(eventOf)]),
  ),
}
