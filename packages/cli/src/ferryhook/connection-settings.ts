/** What may be set of a connection, when it is made and later. */
import { type CommandInput, type CommandOption, UsageError } from '../command.ts'
import { secondsOf } from '../duration.ts'
import { jsonIn, transformIn } from './given-file.ts'
import type { Limits } from './views.ts'

export const connectionSettings = {
  filter: { value: 'FILE', summary: 'JSON with the conditions that an event must meet; or none' },
  transform: { value: 'FILE', summary: 'A script (.js) with transform(event), or JSON; or none' },
  headers: {
    value: 'FILE',
    summary: 'JSON with headers to send along, such as credentials; or none',
  },
  retry: {
    value: 'TIMES',
    summary: 'How long to wait before each attempt, such as 0s,30s,2m,1h; or standard',
  },
  concurrency: { value: 'N', summary: 'At most so many attempts at once; or none' },
  'per-second': { value: 'N', summary: 'At most so many attempts a second, such as 0.5; or none' },
} as const satisfies Record<string, CommandOption>

type Given = string | boolean | undefined

/** As the API has it: null is taken back, and what was not given is undefined. */
export async function settingsIn({ options }: Pick<CommandInput, 'options'>) {
  return {
    filters: await unlessNone(options['filter'], (file) => jsonIn('filter', file)),
    transform: await unlessNone(options['transform'], transformIn),
    headers: await unlessNone(options['headers'], (file) => jsonIn('headers', file)),
    retryConfig: delaysIn(options['retry']),
  }
}

async function unlessNone(given: Given, read: (file: Given) => Promise<unknown>): Promise<unknown> {
  return given === 'none' ? null : read(given)
}

function delaysIn(given: Given): number[] | null | undefined {
  if (typeof given !== 'string') return undefined
  return given === 'standard' ? null : given.split(',').map((each) => secondsOf('retry', each))
}

/** The API knows them together: the one that was not given stays. */
export function limitsIn(
  { options }: Pick<CommandInput, 'options'>,
  before: Limits = {},
): Limits | undefined {
  const { concurrency, 'per-second': perSecond } = options
  if (concurrency === undefined && perSecond === undefined) return undefined
  const limits = {
    concurrency: limitIn('concurrency', concurrency, before.concurrency),
    perSecond: limitIn('per-second', perSecond, before.perSecond),
  }
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined))
}

function limitIn(option: string, given: Given, before: number | undefined): number | undefined {
  if (typeof given !== 'string') return before
  if (given === 'none') return undefined
  if (/^\d{1,6}(?:\.\d{1,6})?$/.test(given)) return Number(given)
  throw new UsageError(`--${option} must be a number, or none`)
}
