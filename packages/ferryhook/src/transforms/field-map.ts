/** Builds a new JSON body from parts of the old body and of the request, and from constants. */
import { MAX_BODY_BYTES } from '../events/item.ts'
import { createBudget } from '../filters/budget.ts'
import { type EventPath, wildcard, parsePath, select } from '../filters/path.ts'
import { decodeBody, parseJson, type ReceivedEvent } from '../filters/received-event.ts'
import { unparsedNode, type JsonNode, findNodes, putAt, removeAt, toJson } from './json-tree.ts'
import { transformFailure, type TransformResult } from './result.ts'
import { type FieldMap, type FieldRule, parseTarget } from './transform.ts'

/** Rules whose source does not exist have no effect. */
export function mapFields({ rules, start }: FieldMap, event: ReceivedEvent): TransformResult {
  const text = decodeBody(event.body)
  if (text === undefined || !parseJson(text)) {
    return transformFailure(
      'body_not_json',
      'A field map needs a JSON body. The body of this event is not JSON.',
    )
  }
  const original = unparsedNode(text)
  const mapped = unparsedNode(start === 'body' ? text : '{}')
  for (const rule of rules) applyRule(rule, mapped, original, event)
  const body = new TextEncoder().encode(toJson(mapped))
  return body.byteLength <= MAX_BODY_BYTES
    ? { kind: 'transformed', body, contentType: 'application/json' }
    : transformFailure('output_limit', `The mapped body is larger than ${MAX_BODY_BYTES} bytes`)
}

function applyRule(
  rule: FieldRule,
  mapped: JsonNode,
  original: JsonNode,
  event: ReceivedEvent,
): void {
  if ('remove' in rule) return removeAt(mapped, parsePath(rule.remove).steps)
  const target = parseTarget(rule.to)
  if ('value' in rule) return putAt(mapped, target, JSON.stringify(rule.value))
  if ('from' in rule) {
    const found = valueAt(parsePath(rule.from), original, event)
    if (found !== undefined) putAt(mapped, target, found)
    return
  }
  const { steps } = parsePath(rule.rename)
  const [found] = findNodes(mapped, steps).map(toJson)
  if (found === undefined) return
  removeAt(mapped, steps)
  putAt(mapped, target, found)
}

/** The JSON of the value at a path; with a wildcard, of a list of all values there. */
function valueAt(path: EventPath, original: JsonNode, event: ReceivedEvent): string | undefined {
  if (path.within !== 'body') {
    const values = select(event, path, createBudget())?.values ?? []
    if (values.length === 0) return undefined
    return JSON.stringify(values.length > 1 ? values : values[0])
  }
  const { steps } = path
  const firstWildcard = steps.indexOf(wildcard)
  const found = findNodes(original, steps)
  if (firstWildcard < 0) return found[0] && toJson(found[0])
  // An empty container below the wildcard gives an empty list; a missing one gives nothing.
  if (findNodes(original, steps.slice(0, firstWildcard)).length === 0) return undefined
  return `[${found.map(toJson).join(',')}]`
}
