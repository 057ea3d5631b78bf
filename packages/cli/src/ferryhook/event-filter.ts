/** Options that select events, for listing and replaying. */
import { eventStatuses } from '@strongroom/ferryhook/events/values'
import { type CommandInput, type CommandOption, usageError } from '../command.ts'
import { parseDuration } from '../output.ts'
import { requireOneOf } from './options.ts'

export const eventFilterOptions = {
  status: {
    value: 'STATUS',
    summary: `Only events with this status: ${eventStatuses.join(', ')}`,
  },
  type: {
    value: 'TYPE',
    summary: 'Only events of this type, such as invoice.paid or "invoice.*"',
  },
  since: { value: 'TIME', summary: 'Only events since then: 90m, 2h, 3d, or 2026-01-31T12:00:00Z' },
  until: { value: 'TIME', summary: 'Only events until then, in the same format' },
  search: { value: 'TEXT', summary: 'Only events with this text in the body; requires --since' },
  header: {
    value: 'TEXT',
    summary:
      'Only events with this text in a header, such as "x-github-event: push"; requires --since',
  },
} as const satisfies Record<string, CommandOption>

export interface EventFilter {
  status?: string
  type?: string
  from?: string
  to?: string
  body?: string
  header?: string
}

/** In the form of the API. */
export function parseEventFilter(
  { options }: Pick<CommandInput, 'options'>,
  now: number,
): EventFilter {
  const { status, type, since, until, search, header } = options
  if ((search !== undefined || header !== undefined) && since === undefined) {
    throw usageError('A text search requires a start time: add --since, such as --since 1d')
  }
  return {
    ...(typeof status === 'string' && { status: requireOneOf('status', eventStatuses, status) }),
    ...(typeof type === 'string' && { type }),
    ...(typeof since === 'string' && { from: parseTime('since', since, now) }),
    ...(typeof until === 'string' && { to: parseTime('until', until, now) }),
    ...(typeof search === 'string' && { body: search }),
    ...(typeof header === 'string' && { header }),
  }
}

function parseTime(option: string, text: string, now: number): string {
  const time = /^\d{4}-\d\d-\d\d/.test(text)
    ? Date.parse(text)
    : now - parseDuration(option, text) * 1000
  // Also rejects NaN.
  if (!(time >= 0)) {
    throw usageError(`--${option} must be a time such as 2h or 2026-01-31T12:00:00Z`)
  }
  return new Date(time).toISOString()
}
