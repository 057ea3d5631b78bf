/** Where a source has a value in its requests, such as the id or the type of an event. */
import * as z from 'zod'
import { createBudget } from '../filters/budget.ts'
import { FilterSyntaxError, parsePath, select, wildcard } from '../filters/path.ts'
import type { FilteredEvent } from '../filters/received-event.ts'
import { headerName, headerOf, type SignedRequest } from './signed-request.ts'

const notAPath = 'Must be a path to one value of the body, such as $.data.id or $.events[0].id'

/** Stored as JSON in a source. */
export const FieldRule = z.discriminatedUnion(
  'by',
  [
    z.strictObject({ by: z.literal('header'), name: headerName }),
    z.strictObject({
      by: z.literal('path'),
      path: z.string(notAPath).refine(selectsOneValue, notAPath),
    }),
    z.strictObject({ by: z.literal('none') }),
  ],
  'Must be {"by":"header","name":…}, {"by":"path","path":…} or {"by":"none"}',
)
export type FieldRule = z.infer<typeof FieldRule>

export const inHeaders = (...names: string[]): FieldRule[] =>
  names.map((name) => ({ by: 'header', name }))
export const inBody = (...paths: string[]): FieldRule[] =>
  paths.map((path) => ({ by: 'path', path }))

export type RequestFields = Pick<SignedRequest, 'headers' | 'body'>

export function fieldValue(rule: FieldRule, request: RequestFields): unknown {
  if (rule.by === 'header') return headerOf(request, rule.name)
  return rule.by === 'path' ? valueAt(rule.path, request) : undefined
}

/** Several rules may look into the body of a request, which is parsed only once. */
const filteredEvents = new WeakMap<RequestFields, FilteredEvent>()
const parsedPaths = new Map<string, ReturnType<typeof parsePath>>()
/** Sources can have any path, so the map must not grow forever. */
const MAX_PARSED_PATHS = 1_000

/** Selects as filters do, so that a path means the same everywhere. */
function valueAt(path: string, request: RequestFields): unknown {
  let event = filteredEvents.get(request)
  if (!event) {
    const contentType = headerOf(request, 'content-type')
    event = { method: '', headers: {}, body: request.body, contentType }
    filteredEvents.set(request, event)
  }
  return select(event, pathOf(path), createBudget())?.values[0]
}

/** Whether a rule has parsed the body already, so that another one costs little. */
export function isBodyParsed(request: RequestFields): boolean {
  return filteredEvents.has(request)
}

function pathOf(text: string): ReturnType<typeof parsePath> {
  let path = parsedPaths.get(text)
  if (!path) {
    path = parsePath(text)
    if (parsedPaths.size >= MAX_PARSED_PATHS) parsedPaths.clear()
    parsedPaths.set(text, path)
  }
  return path
}

function selectsOneValue(path: string): boolean {
  try {
    const { within, steps } = parsePath(path)
    return within === 'body' && steps.length > 0 && !steps.includes(wildcard)
  } catch (error) {
    if (error instanceof FilterSyntaxError) return false
    throw error
  }
}
