/**
 * Transforms in JavaScript: `function transform(event) { … }`, where `event` has `body` (the value,
 * if it is JSON, else text), `headers`, `query`, `method`, `id` and `receivedAt`. What it returns is
 * the new body, an object or a list as JSON, a string as text; `{ body, headers }` sets headers too;
 * `null` drops the event. It may be async.
 */
import { bodyText, parseJson, queryValues, type ReceivedEvent } from '../filters/event.ts'
import { longestBody } from '../items/event.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { ScriptAnswer, ScriptEvent, ScriptJob } from '../sandbox/script-job.ts'
import { ThreadFailed, type ThreadFailure } from '../sandbox/thread-pool.ts'
import { TransformError, type TransformErrorCode } from './error.ts'
import { outputHeaders } from './headers.ts'
import type { TransformResult } from './result.ts'

export interface ScriptOptions {
  sandbox: Sandbox
  /** Whose script it is: owners take turns, and share no memory. */
  owner: string
}

export async function runJavascript(
  code: string,
  event: ReceivedEvent,
  options: ScriptOptions,
): Promise<TransformResult> {
  const { outcome, console } = await run({ code, event: scriptEvent(event) }, options)
  if (outcome.type === 'dropped') {
    return { dropped: true, reason: 'The transform returned null', console }
  }
  if (outcome.type === 'checked') throw new TypeError('A script was not called')
  if (outcome.type === 'failed') throw new TransformError(outcome.code, outcome.message, console)

  try {
    return { ...output(outcome), console }
  } catch (error) {
    if (!(error instanceof TransformError)) throw error
    throw new TransformError(error.code, error.message, console)
  }
}

/** Throws the `TransformError` that any event would end with. */
export async function checkJavascript(code: string, options: ScriptOptions): Promise<void> {
  const { outcome, console } = await run({ code }, options)
  if (outcome.type === 'failed') throw new TransformError(outcome.code, outcome.message, console)
}

async function run(
  job: Omit<ScriptJob, 'owner'>,
  { sandbox, owner }: ScriptOptions,
): Promise<ScriptAnswer> {
  try {
    return await sandbox.run({ ...job, owner })
  } catch (error) {
    if (!(error instanceof ThreadFailed)) throw error
    throw new TransformError(...notRun[error.failure])
  }
}

const notRun: Record<ThreadFailure, [TransformErrorCode, string]> = {
  unresponsive: ['unresponsive', 'The transform did not come to an end and was stopped'],
  crashed: ['crashed', 'The transform broke the engine that ran it'],
  overloaded: ['overloaded', 'There are too many transforms to run: try again later'],
  closed: ['overloaded', 'The server is about to stop: try again later'],
}

function scriptEvent(event: ReceivedEvent): ScriptEvent {
  const text = bodyText(event.body)
  if (text === undefined) {
    throw new TransformError('body_not_text', 'The body of this event is neither JSON nor text')
  }
  return {
    body: parseJson(text) ? text : JSON.stringify(text),
    headers: Object.fromEntries(
      Object.entries(event.headers).map(([name, value]) => [
        name.toLowerCase(),
        [value].flat().join(', '),
      ]),
    ),
    query: queryValues(event.query),
    method: event.method,
    id: event.id,
    receivedAt: new Date(event.receivedAt).toISOString(),
  }
}

function output({ type, body, headers }: { type: string; body: string; headers?: string }) {
  const text = type === 'json' ? body : (JSON.parse(body) as string)
  const bytes = new TextEncoder().encode(text)
  if (bytes.byteLength > longestBody) {
    const message = `The transform returned more than ${longestBody} bytes`
    throw new TransformError('output_limit', message)
  }
  const contentType = type === 'json' ? 'application/json' : 'text/plain; charset=utf-8'
  if (headers === undefined) return { body: bytes, contentType }
  const { 'content-type': own, ...others } = outputHeaders(headers)
  return { body: bytes, contentType: own ?? contentType, headers: others }
}
