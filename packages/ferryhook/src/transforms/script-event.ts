/** An event as a script gets it. */
import { isJsonDeeperThan } from '@strongroom/platform/json-depth'
import { type Budget, parseUnits } from '../filters/budget.ts'
import { decodeBody, parseJson, parseQuery, type ReceivedEvent } from '../filters/received-event.ts'
import type { ScriptEvent } from '../sandbox/sandbox.ts'
import { type TransformFailure, transformFailure } from './result.ts'

/** Below what the engine can parse on its own stack, so the limit does not depend on the engine. */
export const MAX_SCRIPT_BODY_DEPTH = 10_000

export function toScriptEvent(
  event: ReceivedEvent,
  budget: Budget,
): ScriptEvent | TransformFailure {
  // Decoding, parsing, measuring the depth and copying to the thread.
  budget.spend(2 * parseUnits(event.body.byteLength))
  const text = decodeBody(event.body)
  if (text === undefined) {
    return transformFailure('body_not_text', 'The body of this event is neither JSON nor text')
  }
  const isJson = parseJson(text) !== undefined
  if (isJson && isJsonDeeperThan(event.body, MAX_SCRIPT_BODY_DEPTH)) {
    const message = `The body of this event is nested more than ${MAX_SCRIPT_BODY_DEPTH} levels deep`
    return transformFailure('stack_limit', message)
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
