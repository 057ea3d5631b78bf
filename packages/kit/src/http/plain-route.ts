/**
 * A route in plain values, bytes in and text out: for an address that is asked so often that the app
 * around a request would cost more than what the request asks for. Node's server answers it by itself
 * (`node-routes.ts`); wherever there is no Node server the app does, with the same answers.
 */
import type { IncomingMessage } from 'node:http'
import type { Context, Handler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { clientAddress } from './client.ts'
import type { AppEnv } from './env.ts'

export interface PlainRoute {
  methods: readonly string[]
  /** Has one parameter at most: `/in/:sourceId`, `/v1/secrets/:id/reveal`. */
  path: `/${string}`
  maxBodyBytes: number
  /** Throws an `ApiError` for what the client may know. */
  handle(request: PlainRequest): Promise<PlainAnswer>
}

export interface PlainRequest {
  method: string
  /** What stands in the path for the parameter; nothing if it has none. */
  parameter: string
  /** As it was sent, without its question mark; undefined if there is none. */
  query: string | undefined
  /** Names and values in turn, as they were sent. */
  rawHeaders: readonly string[]
  body: Uint8Array
  /** Whose, where it is known. */
  clientAddress: string | undefined
}

export interface PlainAnswer {
  /** Without a body where it is 204. */
  status: ContentfulStatusCode | 204
  contentType: string
  body: string
}

/** The route as a handler of the app. */
export function plainHandler({ path, handle }: PlainRoute): Handler<AppEnv> {
  const name = /:([^/]+)/.exec(path)?.[1] ?? ''
  return async (c) => {
    const node = incomingOf(c)
    const url = node?.url ?? c.req.url
    const answer = await handle({
      method: c.req.method,
      parameter: c.req.param(name) ?? '',
      query: queryOf(url),
      rawHeaders: node?.rawHeaders ?? [...c.req.raw.headers].flat(),
      body: new Uint8Array(await c.req.arrayBuffer()),
      clientAddress: clientAddress(c),
    })
    if (answer.status === 204) return c.body(null, 204)
    return c.body(answer.body, answer.status, { 'content-type': answer.contentType })
  }
}

/** The query of an address as it was sent. */
export function queryOf(url: string): string | undefined {
  const mark = url.indexOf('?')
  return mark < 0 ? undefined : url.slice(mark + 1)
}

function incomingOf(c: Context<AppEnv>): IncomingMessage | undefined {
  const env = c.env as { incoming?: IncomingMessage } | undefined
  return env?.incoming
}
