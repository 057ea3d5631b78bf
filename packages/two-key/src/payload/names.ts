/**
 * Names in payloads. The app may be written in another language, whose parsers take names for the
 * same that are different here: an id under such a name would reach the app unchecked.
 */
import { PayloadError } from './error.ts'

/** The names in JSON that a decision depends on. */
const READ_NAMES = [
  'accepting_user',
  'actions',
  'actor',
  'actor_id',
  'api_app_id',
  'app_installed_team_id',
  'approving_user',
  'assistant_thread',
  'authorizations',
  'bot',
  'bot_id',
  'challenge',
  'channel',
  'channel_id',
  'command',
  'container',
  'context_team_id',
  'creator',
  'declining_user',
  'deleted',
  'enterprise',
  'enterprise_id',
  'event',
  'event_id',
  'id',
  'invite',
  'inviting_user',
  'is_enterprise_install',
  'item',
  'message',
  'name',
  'new_channel_id',
  'payload',
  'response_url',
  'response_urls',
  'source_team',
  'ssl_check',
  'subtype',
  'team',
  'team_id',
  'tokens',
  'type',
  'user',
  'user_id',
  'user_team',
  'view',
] as const
export type ReadName = (typeof READ_NAMES)[number]

const readNames: ReadonlySet<string> = new Set(READ_NAMES)

/**
 * Objects whose names the app has chosen, and for how many levels: block ids and action ids, fields
 * of a dialog, metadata, inputs of a function. Parsers keep them as they are, and two of them may
 * differ only in case.
 */
const APP_NAMED_LEVELS: Readonly<Record<string, number>> = {
  values: 2,
  submission: 1,
  event_payload: Infinity,
  inputs: Infinity,
}

/** Names that no parser changes; together they are distinct if they differ. */
const PLAIN_NAME = /^[a-z0-9_]*$/

/** Counts the members of a value. Throws if a parser could take two names for one. */
export function countUnambiguousMembers(value: object): number {
  let members = 0
  const remaining: [part: object, appNamedLevels: number][] = [[value, 0]]
  for (let next = remaining.pop(); next; next = remaining.pop()) {
    const [part, levels] = next
    if (Array.isArray(part)) {
      for (const each of part as unknown[]) {
        if (typeof each === 'object' && each !== null) remaining.push([each, levels])
      }
      continue
    }
    const names = Object.keys(part)
    members += names.length
    if (levels === 0) requireDistinct(names)
    const inner: unknown[] = Object.values(part)
    for (const [at, each] of inner.entries()) {
      if (typeof each !== 'object' || each === null) continue
      const name = names[at] as string
      const own = Object.hasOwn(APP_NAMED_LEVELS, name) ? APP_NAMED_LEVELS[name] : undefined
      remaining.push([each, levels > 0 ? levels - 1 : (own ?? 0)])
    }
  }
  return members
}

function requireDistinct(names: readonly string[]): void {
  // Nearly all of Slack's names are plain, and then there is nothing to compare.
  if (names.every((name) => PLAIN_NAME.test(name))) return
  const folded = new Set<string>()
  for (const name of names) {
    const key = foldName(name)
    const isRespelled = key !== name && readNames.has(key)
    if (isRespelled || folded.has(key)) throw new PayloadError('ambiguous_payload')
    folded.add(key)
  }
}

const VISIBLE_ASCII = /^[ -~]*$/

/**
 * The name as parsers compare it that ignore case, such as those of Go and ASP.NET, also for letters
 * that only become ASCII by it (ſ, ı, İ and the Kelvin sign), up to a NUL, where it ends in C.
 */
function foldName(name: string): string {
  if (VISIBLE_ASCII.test(name)) return name.toLowerCase()
  const [visible = ''] = name.split('\0', 1)
  return visible.replaceAll('İ', 'i').toUpperCase().toLowerCase()
}
