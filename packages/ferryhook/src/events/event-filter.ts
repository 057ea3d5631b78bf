/** What listings of events select in the store: a range of keys, and a filter. */
import { all, Attr, type Expression, expr, oneOf } from '@strongroom/kit/expression'
import { storedStatuses } from './current-status.ts'
import type { EventStatus } from './item.ts'

const statusAttribute = new Attr<EventStatus>(['status'])
const typeAttribute = new Attr<string>(['eventType'])

export interface EventFilter {
  /** Any of these; at least one. */
  status?: readonly EventStatus[] | undefined
  /** A type, or the beginning of types and an asterisk. */
  type?: string | undefined
}

/** Undefined if it excludes nothing. The current status of what it selects must be checked again. */
export function eventFilter({ status, type }: EventFilter): Expression | undefined {
  return all(
    status && oneOf(statusAttribute, storedStatuses(status)),
    type === undefined ? undefined : typeCondition(type),
  )
}

function typeCondition(type: string): Expression {
  return type.endsWith('*')
    ? expr`begins_with(${typeAttribute}, ${type.slice(0, -1)})`
    : expr`${typeAttribute} = ${type}`
}

/** The first and the last sort key of a range of time, both inclusive. */
export function eventRange({ from, to }: { from?: number | undefined; to?: number | undefined }): {
  first: string
  last: string
} {
  return {
    first: `EVT#${from === undefined ? '' : sortable(from)}`,
    // Ids have no character above the tilde.
    last: to === undefined ? 'EVT#~' : `EVT#${sortable(to)}#~`,
  }
}

/** Thirteen digits, like the keys, for any time. */
export function sortable(ms: number): string {
  const within = Math.min(Math.max(Math.trunc(ms), 0), 9_999_999_999_999)
  return String(within).padStart(13, '0')
}
