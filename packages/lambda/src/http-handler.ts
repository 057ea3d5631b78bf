/** Handlers for HTTP APIs and function URLs. */
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { createHarness } from '@strongroom/kit/http/harness'
import { serverError } from '@strongroom/kit/http/errors'
import { type HttpResponse, isWebResponse } from '@strongroom/kit/http/request'
import { createLog, type Log } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { type HttpEvent, LambdaRequest } from './http-event.ts'
import {
  type HttpResult,
  MAX_RESULT_BYTES,
  type ResultHead,
  toHead,
  toResult,
} from './http-result.ts'
import type { LambdaContext } from './runtime.ts'
import { openOnce } from '@strongroom/kit/open-once'
import type { FunctionApp } from './service-app.ts'

export type HttpHandler = (event: HttpEvent, context: LambdaContext) => Promise<HttpResult>

/** What is left of the time of an invocation for the response itself. */
const RESPONSE_MS = 2_000

export function httpHandler(open: () => Promise<FunctionApp>): HttpHandler {
  const opened = openOnce(open)
  const log = createLog({ pretty: false })
  return async (event, context) => {
    const request = new LambdaRequest(event)
    const app = await opened().catch((error: unknown) => failedToStart(log, error))
    await app.resume()
    const result = await toResult(await app.handle(request))
    await flushWithin(app, context, log)
    app.rest()
    if (Buffer.byteLength(result.body) <= MAX_RESULT_BYTES) return result
    const reason = `The response has ${Buffer.byteLength(result.body)} bytes, Lambda returns at most ${MAX_RESULT_BYTES}`
    return toResult(
      await refusing(log, serverError('internal', { cause: new Error(reason) }))(request),
    )
  }
}

/** Lambda's own functions for response streams, which exist only inside it. */
declare const awslambda: {
  streamifyResponse<Event>(
    handler: (event: Event, stream: Writable, context: LambdaContext) => Promise<void>,
  ): unknown
  HttpResponseStream: { from(stream: Writable, head: ResultHead): Writable }
}

/** How long before the end of an invocation streams end, so that clients see why. */
const STREAM_END_MS = 5_000

/** For function URLs: the response is sent while it is made. */
export function streamingHandler(open: () => Promise<FunctionApp>): unknown {
  const opened = openOnce(open)
  const log = createLog({ pretty: false })
  return awslambda.streamifyResponse<HttpEvent>(async (event, stream, context) => {
    const request = new LambdaRequest(event)
    const app = await opened().catch((error: unknown) => failedToStart(log, error))
    await app.resume()
    const endMs = Math.max(0, context.getRemainingTimeInMillis() - STREAM_END_MS)
    const timer = setTimeout(() => app.endStreams(), endMs)
    try {
      const response = await app.handle(request)
      const out = awslambda.HttpResponseStream.from(stream, toHead(response))
      await send(response, out, request)
      await flushWithin(app, context, log)
    } finally {
      clearTimeout(timer)
      app.rest()
    }
  })
}

async function send(
  response: HttpResponse | Response,
  out: Writable,
  request: LambdaRequest,
): Promise<void> {
  out.on('error', () => request.disconnect())
  out.on('close', () => request.disconnect())
  if (!isWebResponse(response)) return void out.end(response.body)
  const reader = response.body?.getReader()
  if (!reader) return void out.end()
  const stop = () => void reader.cancel().catch(() => {})
  out.on('error', stop)
  out.on('close', stop)
  for (;;) {
    const { done, value } = await reader.read()
    if (done || out.destroyed) break
    if (!out.write(value)) await Promise.race([once(out, 'drain'), once(out, 'close')])
  }
  out.end()
}

/** Background work may take long, but a response must not be lost to it. */
async function flushWithin(app: FunctionApp, context: LambdaContext, log: Log): Promise<void> {
  const maxMs = Math.max(0, context.getRemainingTimeInMillis() - RESPONSE_MS)
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), maxMs)
  })
  try {
    const outcome = await Promise.race([app.flush(), timeout])
    if (outcome === 'late') log.warn('background work not finished before the response')
  } catch (error) {
    log.error('background work failed', { error })
  } finally {
    clearTimeout(timer)
  }
}

/** Every request gets the same response until a start succeeds. */
function failedToStart(log: Log, error: unknown): FunctionApp {
  const unavailable = serverError('unavailable', { cause: error, headers: { 'retry-after': '5' } })
  return {
    handle: refusing(log, unavailable),
    resume: async () => {},
    rest: () => {},
    flush: async () => {},
    endStreams: () => {},
  }
}

function refusing(log: Log, error: Error): FunctionApp['handle'] {
  const harness = createHarness({ log, metrics: createMetrics() })
  const handle = async (): Promise<never> => {
    throw error
  }
  return (request) => harness({ service: 'server', pattern: 'unmatched', handle }, request)
}
