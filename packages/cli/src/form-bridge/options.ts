/** Arguments and options that several commands of Form-Bridge have. */
import { type CommandInput, type CommandOption, usageError } from '../command.ts'
import { parseDuration } from '../output.ts'

const FORMATS = {
  AGENCY: [
    /^agency_[A-Za-z0-9_-]{16}$/,
    'agency_ and 16 characters: see "strongroom agencies list"',
  ],
  REGISTRATION: [
    /^reg_[0-9A-HJKMNP-TV-Z]{26}$/,
    'reg_ and 26 characters: see "strongroom registrations list"',
  ],
  SITE: [/^site_[A-Za-z0-9_-]{16}$/, 'site_ and 16 characters: see "strongroom sites list"'],
} as const

export function parseId(kind: keyof typeof FORMATS, given: string | undefined): string {
  const [format, expected] = FORMATS[kind]
  if (given !== undefined && format.test(given)) return given
  throw usageError(`${kind} must be an id, ${expected}`)
}

/** `what` is an argument or an option, as in the help. */
export function parseChoice<T extends string>(
  what: string,
  choices: readonly T[],
  given: unknown,
): T {
  const choice = choices.find((each) => each === given)
  if (choice === undefined) throw usageError(`${what} must be one of ${choices.join(', ')}`)
  return choice
}

export function parseCount(
  { options }: Pick<CommandInput, 'options'>,
  name: string,
): number | undefined {
  const given = options[name]
  if (given === undefined) return undefined
  if (typeof given === 'string' && /^\d{1,9}$/.test(given)) return Number(given)
  throw usageError(`--${name} must be a number, such as 100`)
}

export const sinceOption: Readonly<Record<string, CommandOption>> = {
  since: { value: 'TIME', summary: 'How far back, such as 1h (1d)' },
}

/** The time that --since names, and now. */
export function parseSince({ options }: Pick<CommandInput, 'options'>): {
  from: string
  to: string
} {
  const seconds = parseDuration('since', String(options['since'] ?? '1d'))
  const now = Date.now()
  const iso = (ms: number) => new Date(ms).toISOString()
  return { from: iso(now - 1000 * seconds), to: iso(now) }
}
