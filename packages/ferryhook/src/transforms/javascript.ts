/**
 * Transforms in JavaScript: `function transform(event) { … }`, where `event` has `body` (parsed if it
 * is JSON, otherwise text), `headers`, `query`, `method`, `id` and `receivedAt`. It returns the new
 * body: an object or a list is sent as JSON, a string as text. `{ body, headers }` sets headers too,
 * and `null` drops the event. The function may be async.
 */
import * as z from 'zod'
import { MAX_BODY_BYTES } from '../events/values.ts'
import type { ReceivedEvent } from '../filters/received-event.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { WorkScheduler } from '../sandbox/work-scheduler.ts'
import type { ThreadFailure } from '../sandbox/thread-pool.ts'
import {
  type TransformFailure,
  transformFailure,
  type TransformFailureCode,
  type TransformResult,
} from './result.ts'

export interface ScriptOptions {
  sandbox: Sandbox
  /** Owners take turns and share no memory. */
  owner: string
}

export async function runJavascript(
  code: string,
  event: ReceivedEvent,
  { sandbox, owner, scheduler }: ScriptOptions & { scheduler: WorkScheduler },
): Promise<TransformResult> {
  const input = await scheduler.evaluate(owner, { kind: 'script_event', event })
  if ('kind' in input) return input
  const run = await sandbox.run({ code, event: input, owner })
  if (run.kind === 'failed') return transformFailure(...threadFailures[run.failure])
  const { outcome, console } = run.result
  switch (outcome.type) {
    case 'dropped':
      return { kind: 'dropped', reason: 'The transform returned null', console }
    case 'failed':
      return transformFailure(outcome.code, outcome.message, console)
    case 'checked':
      throw new TypeError('The sandbox checked the script instead of running it')
    default:
      return toResult(outcome, console)
  }
}

/** Returns why the code would fail for every event; undefined if it loads. */
export async function checkJavascript(
  code: string,
  { sandbox, owner }: ScriptOptions,
): Promise<TransformFailure | undefined> {
  const run = await sandbox.run({ code, owner })
  if (run.kind === 'failed') return transformFailure(...threadFailures[run.failure])
  const { outcome, console } = run.result
  if (outcome.type !== 'failed') return undefined
  return transformFailure(outcome.code, outcome.message, console)
}

const threadFailures: Record<ThreadFailure, [TransformFailureCode, string]> = {
  unresponsive: ['unresponsive', 'The transform did not finish and was stopped'],
  crashed: ['crashed', 'The transform crashed the script engine'],
  overloaded: ['overloaded', 'Too many transforms are waiting. Try again later.'],
  backed_off: [
    'overloaded',
    'A transform of this account did not finish and was stopped. Correct it, and try again in a few minutes.',
  ],
  closed: ['overloaded', 'The server is shutting down. Try again later.'],
}

function toResult(
  { type, body, headers }: { type: 'json' | 'text'; body: string; headers?: string },
  console: readonly string[],
): TransformResult {
  const text = type === 'json' ? body : (JSON.parse(body) as string)
  const bytes = new TextEncoder().encode(text)
  if (bytes.byteLength > MAX_BODY_BYTES) {
    const message = `The transform returned more than ${MAX_BODY_BYTES} bytes`
    return transformFailure('output_limit', message, console)
  }
  const contentType = type === 'json' ? 'application/json' : 'text/plain; charset=utf-8'
  if (headers === undefined) return { kind: 'transformed', body: bytes, contentType, console }
  const checked = checkHeaders(headers)
  if ('problem' in checked) return transformFailure('invalid_output', checked.problem, console)
  const { 'content-type': own, ...others } = checked.headers
  return {
    kind: 'transformed',
    body: bytes,
    contentType: own ?? contentType,
    headers: others,
    console,
  }
}

const MAX_HEADERS = 50
const MAX_HEADER_LENGTH = 4_096

/** Headers of the HTTP connection, and those that identify and sign a delivery. */
const reserved =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|expect|cookie|user-agent|webhook-.*|x-ferryhook-.*)$/

const Headers = z.record(z.string(), z.union([z.string(), z.number()]))

/** `json` comes from a script and is not trusted. Returns names in lower case. */
function checkHeaders(json: string): { headers: Record<string, string> } | { problem: string } {
  const { data } = Headers.safeParse(JSON.parse(json))
  if (!data) return { problem: 'The headers must be an object of names and texts' }
  const headers = Object.entries(data).map(
    ([name, value]) => [name.toLowerCase(), String(value).trim()] as const,
  )
  if (headers.length > MAX_HEADERS)
    return { problem: `The transform returned more than ${MAX_HEADERS} headers` }
  for (const [name, value] of headers) {
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)) {
      return { problem: 'The name of a header is not valid in HTTP' }
    }
    if (reserved.test(name)) return { problem: `A transform cannot set the header ${name}` }
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value) || value.length > MAX_HEADER_LENGTH) {
      return { problem: `The value of the header ${name} is not valid in HTTP` }
    }
  }
  return { headers: Object.fromEntries(headers) }
}
