/** A new JSON body from parts of the old one and of the request, and from constants. */
import { bodyText, parseJson, type ReceivedEvent } from '../filters/event.ts'
import { type EventPath, every, parsePath } from '../filters/path.ts'
import { select } from '../filters/select.ts'
import { limitedWork } from '../filters/work.ts'
import { TransformError } from './error.ts'
import { closedNode, type JsonNode, nodesAt, putAt, removeAt, textOf } from './json-tree.ts'
import { parseTarget } from './target.ts'
import type { FieldMap, FieldRule } from './transform.ts'

/** The text of the new body. What is not there is left out. */
export function mapFields({ rules, start }: FieldMap, event: ReceivedEvent): string {
  const text = bodyText(event.body)
  if (text === undefined || !parseJson(text)) {
    throw new TransformError(
      'body_not_json',
      'A field map needs a JSON body, and the body of this event is not JSON',
    )
  }
  const original = closedNode(text)
  const mapped = closedNode(start === 'body' ? text : '{}')
  for (const rule of rules) apply(rule, mapped, original, event)
  return textOf(mapped)
}

function apply(rule: FieldRule, mapped: JsonNode, original: JsonNode, event: ReceivedEvent): void {
  if ('remove' in rule) return removeAt(mapped, parsePath(rule.remove).steps)
  const target = parseTarget(rule.to)
  if ('value' in rule) return putAt(mapped, target, JSON.stringify(rule.value))
  if ('from' in rule) {
    const found = valueAt(parsePath(rule.from), original, event)
    if (found !== undefined) putAt(mapped, target, found)
    return
  }
  const { steps } = parsePath(rule.rename)
  const [found] = nodesAt(mapped, steps).map(textOf)
  if (found === undefined) return
  removeAt(mapped, steps)
  putAt(mapped, target, found)
}

/** The text of what is at a path; with a wildcard, a list of all that is there. */
function valueAt(path: EventPath, original: JsonNode, event: ReceivedEvent): string | undefined {
  if (path.within !== 'body') {
    const values = select(event, path, limitedWork())?.values ?? []
    if (values.length === 0) return undefined
    return JSON.stringify(values.length > 1 ? values : values[0])
  }
  const { steps } = path
  const wildcard = steps.indexOf(every)
  const found = nodesAt(original, steps)
  if (wildcard < 0) return found[0] && textOf(found[0])
  // A list of nothing, if only there is something that could have held more.
  if (nodesAt(original, steps.slice(0, wildcard)).length === 0) return undefined
  return `[${found.map(textOf).join(',')}]`
}
