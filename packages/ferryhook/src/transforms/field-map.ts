/** Builds a new JSON body from parts of the old body and of the request, and from constants. */
import { MAX_BODY_BYTES } from '../events/values.ts'
import { type Budget, BUDGET_EXCEEDED, createBudget, parseUnits } from '../filters/budget.ts'
import { type EventPath, wildcard, parsePath, select } from '../filters/path.ts'
import { decodeBody, parseJson, type ReceivedEvent } from '../filters/received-event.ts'
import {
  unparsedNode,
  type JsonNode,
  findNodes,
  putAt,
  removeAt,
  toJson,
  toJsonList,
} from './json-tree.ts'
import { transformFailure, type TransformResult } from './result.ts'
import { type FieldMap, type FieldRule, parseTarget } from './transform.ts'

/** Rules whose source does not exist have no effect. */
export function mapFields(
  fieldMap: FieldMap,
  event: ReceivedEvent,
  budget: Budget = createBudget(),
): TransformResult {
  try {
    return mapWithin(fieldMap, event, budget)
  } catch (error) {
    if (error !== BUDGET_EXCEEDED) throw error
    const message = 'The field map takes too long for this event. Use fewer rules or wildcards.'
    return transformFailure('time_limit', message)
  }
}

const outputLimit = transformFailure(
  'output_limit',
  `The mapped body is larger than ${MAX_BODY_BYTES} bytes`,
)

function mapWithin(
  { rules, start }: FieldMap,
  event: ReceivedEvent,
  budget: Budget,
): TransformResult {
  budget.spend(parseUnits(event.body.byteLength))
  const text = decodeBody(event.body)
  if (text === undefined || !parseJson(text)) {
    return transformFailure(
      'body_not_json',
      'A field map needs a JSON body. The body of this event is not JSON.',
    )
  }
  const original = unparsedNode(text)
  const mapped = unparsedNode(start === 'body' ? text : '{}')
  for (const rule of rules) {
    // Checked for each rule, so that a hundred copies of a large part are never built.
    if (!applyRule(rule, { mapped, original, event, budget })) return outputLimit
  }
  const body = new TextEncoder().encode(toJson(mapped, budget))
  return body.byteLength <= MAX_BODY_BYTES
    ? { kind: 'transformed', body, contentType: 'application/json' }
    : outputLimit
}

interface Documents {
  mapped: JsonNode
  original: JsonNode
  event: ReceivedEvent
  budget: Budget
}

/** False if its output alone is larger than a body. */
function applyRule(rule: FieldRule, documents: Documents): boolean {
  const { mapped, budget } = documents
  budget.spend(UNITS_PER_RULE)
  if ('remove' in rule) {
    removeAt(mapped, parsePath(rule.remove).steps, budget)
    return true
  }
  const found = valueOf(rule, documents)
  if (found === undefined) return true
  if (found.length > MAX_BODY_BYTES) return false
  if ('rename' in rule) removeAt(mapped, parsePath(rule.rename).steps, budget)
  putAt(mapped, parseTarget(rule.to), found, budget)
  return true
}

/** Mostly for parsing its paths. */
const UNITS_PER_RULE = 100

/** The JSON that a rule writes. */
function valueOf(
  rule: Exclude<FieldRule, { remove: string }>,
  { mapped, original, event, budget }: Documents,
): string | undefined {
  if ('value' in rule) return JSON.stringify(rule.value)
  if ('from' in rule) return valueAt(parsePath(rule.from), original, event, budget)
  const [found] = findNodes(mapped, parsePath(rule.rename).steps, budget)
  return found && toJson(found, budget)
}

/** The JSON of the value at a path; with a wildcard, of a list of all values there. */
function valueAt(
  path: EventPath,
  original: JsonNode,
  event: ReceivedEvent,
  budget: Budget,
): string | undefined {
  if (path.within !== 'body') {
    const values = select(event, path, budget)?.values ?? []
    if (values.length === 0) return undefined
    return JSON.stringify(values.length > 1 ? values : values[0])
  }
  const { steps } = path
  const firstWildcard = steps.indexOf(wildcard)
  const found = findNodes(original, steps, budget)
  if (firstWildcard < 0) return found[0] && toJson(found[0], budget)
  // An empty container below the wildcard gives an empty list; a missing one gives nothing.
  if (found.length === 0) {
    const containers = findNodes(original, steps.slice(0, firstWildcard), budget)
    if (containers.length === 0) return undefined
  }
  return toJsonList(found, budget)
}
