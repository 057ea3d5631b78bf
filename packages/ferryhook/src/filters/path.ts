/**
 * Paths into an event, after RFC 9535: `$.data.items[0]`, `$['odd.key']`, `$.items[*].id` (any of
 * them) and `$.items[-1]` (the last) select from the body. `$headers.x-github-event`, `$query.page`
 * and `$method` select from the request.
 */
import type { Budget } from './budget.ts'
import { memberCount } from './json.ts'
import { contentOf, type FilteredEvent, headerValues, queryValues } from './received-event.ts'

/** Selects every element of a list, or every value of an object. */
export const wildcard = Symbol('wildcard')

/** A name, an index, or the wildcard. */
export type Step = string | number | typeof wildcard

export interface EventPath {
  within: 'body' | 'headers' | 'query' | 'method'
  steps: readonly Step[]
}

/** A path or pattern cannot be parsed; the message tells its author what is wrong. */
export class FilterSyntaxError extends Error {
  override readonly name = 'FilterSyntaxError'
}

export const MAX_PATH_LENGTH = 500
/** Also bounds how deep a transform parses, and so recurses into, a document. */
export const MAX_PATH_STEPS = 32

const START = /^\$(headers|query|method)?(?=[.[]|$)/
const STEP =
  /\.(?:(\*)|([^\s.*[\]'"]+))|\[(?:(\*)|(-?\d{1,9})|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/y

/** Throws `FilterSyntaxError`. */
export function parsePath(text: string): EventPath {
  if (text.length > MAX_PATH_LENGTH) {
    throw new FilterSyntaxError(`Must be at most ${MAX_PATH_LENGTH} characters`)
  }
  const start = START.exec(text)
  if (!start) {
    throw new FilterSyntaxError(
      'Is not a path. Start it with $. or $headers. or $query., or use $method.',
    )
  }
  const within = (start[1] ?? 'body') as EventPath['within']
  const steps = parseSteps(text, start[0].length)
  if (within === 'method' && steps.length > 0) throw new FilterSyntaxError('$method has no parts')
  if ((within === 'headers' || within === 'query') && !isOneName(steps)) {
    throw new FilterSyntaxError(
      `Must name one value after $${within}: $${within}.name or $${within}['name']`,
    )
  }
  return { within, steps }
}

function parseSteps(text: string, from: number): Step[] {
  const steps: Step[] = []
  let at = from
  while (at < text.length) {
    STEP.lastIndex = at
    const found = STEP.exec(text)
    if (!found) {
      throw new FilterSyntaxError(
        `Cannot be parsed from character ${at + 1} on. Use .name, ['name'], [0] or [*].`,
      )
    }
    const [whole, star, name, bracketStar, index, single, double] = found
    if (star ?? bracketStar) steps.push(wildcard)
    else if (index !== undefined) steps.push(Number(index))
    else steps.push(name ?? unescape(single ?? double ?? ''))
    at += whole.length
  }
  if (steps.length > MAX_PATH_STEPS) {
    throw new FilterSyntaxError(`Must have at most ${MAX_PATH_STEPS} steps`)
  }
  return steps
}

function unescape(quoted: string): string {
  return quoted.replace(/\\(.)/gs, '$1')
}

function isOneName(steps: readonly Step[]): boolean {
  return steps.length === 1 && typeof steps[0] === 'string'
}

export interface Selection {
  /** Empty if nothing is at the path; a path with a wildcard may select several values. */
  values: readonly unknown[]
  /** Whether values have JSON types; headers, queries and forms contain only text. */
  isTyped: boolean
}

/** Undefined if the path points into a body that is neither JSON nor a form. */
export function select(
  event: FilteredEvent,
  path: EventPath,
  budget: Budget,
): Selection | undefined {
  if (path.within === 'body') {
    const content = contentOf(event, budget)
    if (!content) return undefined
    return { values: walk(content.value, path.steps, budget), isTyped: content.isTyped }
  }
  if (path.within === 'method') return { values: [event.method], isTyped: false }
  const valuesOf = path.within === 'headers' ? headerValues : queryValues
  const values = valuesOf(event, String(path.steps[0]), budget)
  budget.spend(1 + values.length)
  return { values, isTyped: false }
}

/** Goes level by level instead of recursing, so the document may have any depth. */
function walk(root: unknown, steps: readonly Step[], budget: Budget): unknown[] {
  let found = [root]
  for (const step of steps) {
    budget.spend(1 + found.length)
    const next: unknown[] = []
    for (const value of found) addChildren(next, value, step, budget)
    found = next
  }
  return found
}

/** Large objects are stored as hash tables, which take longer to walk than lists. */
const UNITS_PER_MEMBER = 4

function addChildren(next: unknown[], value: unknown, step: Step, budget: Budget): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    if (step === wildcard) {
      budget.spend(value.length / 2)
      for (const element of value as unknown[]) next.push(element)
      return
    }
    const index = indexIn(value, step)
    if (index !== undefined) next.push(value[index])
    return
  }
  const members = value as Record<string, unknown>
  if (step === wildcard) {
    budget.spend(UNITS_PER_MEMBER * memberCount(members))
    for (const member of Object.values(members)) next.push(member)
  } else if (Object.hasOwn(members, String(step))) next.push(members[String(step)])
}

/** The index of an existing element; a negative step counts from the end. */
export function indexIn(elements: readonly unknown[], step: string | number): number | undefined {
  const index = typeof step === 'number' ? step : /^\d+$/.test(step) ? Number(step) : NaN
  const at = index < 0 ? elements.length + index : index
  return at in elements ? at : undefined
}
