/** What stands at a path of an event. */
import { contentOf, type FilteredEvent, queryValues } from './event.ts'
import { type EventPath, every, type Step } from './path.ts'
import type { Work } from './work.ts'

export interface Selection {
  /** None if there is nothing at the path; several for a path with a wildcard. */
  values: readonly unknown[]
  /** Whether a number is a number; headers, queries and forms have nothing but text. */
  isTyped: boolean
}

/** Undefined if the path is into a body that has no parts. */
export function select(event: FilteredEvent, path: EventPath, work: Work): Selection | undefined {
  if (path.within === 'body') {
    const content = contentOf(event)
    if (!content) return undefined
    return { values: walk(content.value, path.steps, work), isTyped: content.isTyped }
  }
  if (path.within === 'method') return { values: [event.method], isTyped: false }
  const name = String(path.steps[0])
  const values =
    path.within === 'headers' ? headerValues(event.headers, name) : named(event.query, name)
  return { values, isTyped: false }
}

/** Level by level, so that a document of any depth is walked on a stack of one. */
function walk(root: unknown, steps: readonly Step[], work: Work): unknown[] {
  let found = [root]
  for (const step of steps) {
    work.spend(1 + found.length)
    found = found.flatMap((value) => below(value, step))
  }
  work.spend(found.length)
  return found
}

function below(value: unknown, step: Step): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  if (step === every) return Object.values(value)
  if (Array.isArray(value)) {
    const index = typeof step === 'number' ? step : /^\d+$/.test(step) ? Number(step) : NaN
    const at = index < 0 ? value.length + index : index
    return at in value ? [value[at]] : []
  }
  const name = String(step)
  return Object.hasOwn(value, name) ? [(value as Record<string, unknown>)[name]] : []
}

function headerValues(headers: FilteredEvent['headers'], name: string): string[] {
  const wanted = name.toLowerCase()
  return Object.entries(headers)
    .filter(([header]) => header.toLowerCase() === wanted)
    .flatMap(([, value]) => value)
}

function named(query: string | undefined, name: string): string[] {
  const values = queryValues(query)
  return Object.hasOwn(values, name) ? [values[name] ?? []].flat() : []
}
