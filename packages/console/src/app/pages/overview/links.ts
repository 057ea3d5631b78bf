/** Addresses of the events behind a figure. */
import { BASE } from '../../router.ts'

export interface Range {
  from: string
  to: string
  source?: string | undefined
}

/** The events of a range of time, as a path of the console. */
export function eventsPath(
  { from, to, source }: Range,
  filter: { status?: string; connection?: string } = {},
): string {
  const parameters = new URLSearchParams()
  const all = { ...filter, source, from, to }
  for (const [name, value] of Object.entries(all)) {
    if (value !== undefined && value !== '') parameters.set(name, value)
  }
  return `/events?${parameters}`
}

export function eventsHref(
  range: Range,
  filter?: { status?: string; connection?: string },
): string {
  return BASE + eventsPath(range, filter)
}
