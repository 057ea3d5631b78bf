/**
 * Transforms in JavaScript: `function transform(event) { … }`, where `event` has `body` (parsed if it
 * is JSON, otherwise text), `headers`, `query`, `method`, `id` and `receivedAt`. It returns the new
 * body: an object or a list is sent as JSON, a string as text. `{ body, headers }` sets headers too,
 * and `null` drops the event. The function may be async.
 */
import { isJsonDeeperThan } from '@strongroom/platform/json-depth'
import * as z from 'zod'
import { MAX_BODY_BYTES } from '../events/item.ts'
import { decodeBody, parseJson, parseQuery, type ReceivedEvent } from '../filters/received-event.ts'
import type { Sandbox, ScriptEvent, ScriptJob, ScriptResult } from '../sandbox/sandbox.ts'
import { ThreadFailed, type ThreadFailure } from '../sandbox/thread-pool.ts'
import { TransformError, type TransformErrorCode, type TransformResult } from './result.ts'

export interface ScriptOptions {
  sandbox: Sandbox
  /** Owners take turns and share no memory. */
  owner: string
}

export async function runJavascript(
  code: string,
  event: ReceivedEvent,
  options: ScriptOptions,
): Promise<TransformResult> {
  const { outcome, console } = await run({ code, event: toScriptEvent(event) }, options)
  if (outcome.type === 'dropped') {
    return { dropped: true, reason: 'The transform returned null', console }
  }
  if (outcome.type === 'checked')
    throw new TypeError('The sandbox checked the script instead of running it')
  if (outcome.type === 'failed') throw new TransformError(outcome.code, outcome.message, console)

  try {
    return { ...output(outcome), console }
  } catch (error) {
    if (!(error instanceof TransformError)) throw error
    throw new TransformError(error.code, error.message, console)
  }
}

/** Throws `TransformError` if the code would fail for every event. */
export async function checkJavascript(code: string, options: ScriptOptions): Promise<void> {
  const { outcome, console } = await run({ code }, options)
  if (outcome.type === 'failed') throw new TransformError(outcome.code, outcome.message, console)
}

async function run(
  job: Omit<ScriptJob, 'owner'>,
  { sandbox, owner }: ScriptOptions,
): Promise<ScriptResult> {
  try {
    return await sandbox.run({ ...job, owner })
  } catch (error) {
    if (!(error instanceof ThreadFailed)) throw error
    throw new TransformError(...threadErrors[error.failure])
  }
}

const threadErrors: Record<ThreadFailure, [TransformErrorCode, string]> = {
  unresponsive: ['unresponsive', 'The transform did not finish and was stopped'],
  crashed: ['crashed', 'The transform crashed the script engine'],
  overloaded: ['overloaded', 'Too many transforms are waiting. Try again later.'],
  closed: ['overloaded', 'The server is shutting down. Try again later.'],
}

/** Below what the engine can parse on its own stack, so the limit does not depend on the engine. */
export const MAX_SCRIPT_BODY_DEPTH = 10_000

function toScriptEvent(event: ReceivedEvent): ScriptEvent {
  const text = decodeBody(event.body)
  if (text === undefined) {
    throw new TransformError('body_not_text', 'The body of this event is neither JSON nor text')
  }
  const isJson = parseJson(text) !== undefined
  if (isJson && isJsonDeeperThan(event.body, MAX_SCRIPT_BODY_DEPTH)) {
    const message = `The body of this event is nested more than ${MAX_SCRIPT_BODY_DEPTH} levels deep`
    throw new TransformError('stack_limit', message)
  }
  return {
    body: isJson ? text : JSON.stringify(text),
    headers: Object.fromEntries(
      Object.entries(event.headers).map(([name, value]) => [
        name.toLowerCase(),
        [value].flat().join(', '),
      ]),
    ),
    query: parseQuery(event.query),
    method: event.method,
    id: event.id,
    receivedAt: new Date(event.receivedAt).toISOString(),
  }
}

function output({ type, body, headers }: { type: string; body: string; headers?: string }) {
  const text = type === 'json' ? body : (JSON.parse(body) as string)
  const bytes = new TextEncoder().encode(text)
  if (bytes.byteLength > MAX_BODY_BYTES) {
    const message = `The transform returned more than ${MAX_BODY_BYTES} bytes`
    throw new TransformError('output_limit', message)
  }
  const contentType = type === 'json' ? 'application/json' : 'text/plain; charset=utf-8'
  if (headers === undefined) return { body: bytes, contentType }
  const { 'content-type': own, ...others } = outputHeaders(headers)
  return { body: bytes, contentType: own ?? contentType, headers: others }
}

const MAX_HEADERS = 50
const MAX_HEADER_LENGTH = 4_096

/** Headers of the HTTP connection, and those that identify and sign a delivery. */
const reserved =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|expect|cookie|user-agent|webhook-.*|x-ferryhook-.*)$/

const Headers = z.record(z.string(), z.union([z.string(), z.number()]))

/** `json` comes from a script and is not trusted. Returns names in lower case. */
export function outputHeaders(json: string): Record<string, string> {
  const { data } = Headers.safeParse(JSON.parse(json))
  if (!data) throw invalid('The headers must be an object of names and texts')
  const headers = Object.entries(data).map(
    ([name, value]) => [name.toLowerCase(), String(value).trim()] as const,
  )
  if (headers.length > MAX_HEADERS)
    throw invalid(`The transform returned more than ${MAX_HEADERS} headers`)
  for (const [name, value] of headers) {
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)) {
      throw invalid('The name of a header is not valid in HTTP')
    }
    if (reserved.test(name)) throw invalid(`A transform cannot set the header ${name}`)
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value) || value.length > MAX_HEADER_LENGTH) {
      throw invalid(`The value of the header ${name} is not valid in HTTP`)
    }
  }
  return Object.fromEntries(headers)
}

function invalid(message: string): TransformError {
  return new TransformError('invalid_output', message)
}
