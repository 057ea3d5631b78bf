/** Which events are meant: the options that listing and replaying have in common. */
import { eventStatuses } from '@strongroom/ferryhook/items/event'
import { type CommandInput, type CommandOption, UsageError } from '../command.ts'
import { secondsOf } from '../duration.ts'
import { oneOf } from './one-of.ts'

export const choosing = {
  status: {
    value: 'STATUS',
    summary: `Only those: ${eventStatuses.join(', ')}`,
  },
  since: { value: 'TIME', summary: 'Only what came since: 90m, 2h, 3d, or 2026-01-31T12:00:00Z' },
  until: { value: 'TIME', summary: 'Only what came until then, written in the same way' },
  search: { value: 'TEXT', summary: 'Only those with this text in the body; needs --since' },
  header: {
    value: 'TEXT',
    summary: 'Only those with this text in a header, such as "x-github-event: push"; needs --since',
  },
} as const satisfies Record<string, CommandOption>

export interface Chosen {
  status?: string
  from?: string
  to?: string
  body?: string
  header?: string
}

/** As the API has them. */
export function chosenIn({ options }: Pick<CommandInput, 'options'>, now: number): Chosen {
  const { status, since, until, search, header } = options
  if ((search !== undefined || header !== undefined) && since === undefined) {
    throw new UsageError('To look for text takes a beginning: add --since, such as --since 1d')
  }
  return {
    ...(typeof status === 'string' && { status: oneOf('status', eventStatuses, status) }),
    ...(typeof since === 'string' && { from: timeOf('since', since, now) }),
    ...(typeof until === 'string' && { to: timeOf('until', until, now) }),
    ...(typeof search === 'string' && { body: search }),
    ...(typeof header === 'string' && { header }),
  }
}

function timeOf(option: string, text: string, now: number): string {
  const time = /^\d{4}-\d\d-\d\d/.test(text)
    ? Date.parse(text)
    : now - secondsOf(option, text) * 1000
  // What is no time is not at least 0 either.
  if (!(time >= 0)) {
    throw new UsageError(`--${option} must be a time such as 2h or 2026-01-31T12:00:00Z`)
  }
  return new Date(time).toISOString()
}
