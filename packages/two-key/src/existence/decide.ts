/** Turns the results of all lookups of a request into one. */
import type { SlackIds } from '../slack-ids.ts'
import type { ChannelPolicy, ExistenceResult } from './result.ts'
import type { LookupResult, Undecidable } from './slack-lookup.ts'
import type { Facts } from './slack-responses.ts'

export interface LookupResults {
  token: LookupResult
  /** The workspace, if the token is org-wide, and the other teams of the payload. */
  teams: readonly LookupResult[]
  user?: LookupResult | undefined
  bot?: LookupResult | undefined
  channel?: LookupResult | undefined
}

export interface Decided {
  result: ExistenceResult
  /** The time of the oldest response, in milliseconds since the epoch; only if all ids exist. */
  verifiedAt?: number
}

export function decide(ids: SlackIds, lookups: LookupResults, policy: ChannelPolicy): Decided {
  const { token, teams, user, bot } = lookups
  const channel = visibleChannel(lookups.channel, policy)
  const parts = [
    ...[token, ...teams].map((lookup) => ['team', lookup] as const),
    ['user', user] as const,
    ['bot', bot] as const,
    ['channel', channel] as const,
  ]
  // One absent id decides, even if other lookups failed.
  const absent = parts.find(([, lookup]) => lookup?.state === 'absent')
  if (absent) return refuse(absent[0])
  let verifiedAt = Infinity
  let fromSlack = false
  for (const [, lookup] of parts) {
    if (lookup?.state === 'undecidable') return { result: toUndecidable(lookup) }
    if (lookup?.state !== 'exists') continue
    verifiedAt = Math.min(verifiedAt, lookup.verifiedAt)
    fromSlack ||= lookup.fromSlack
  }
  const facts = { token: factsOf(token) ?? {}, user: factsOf(user), channel: factsOf(channel) }
  if (!userBelongs(ids, facts) || !channelBelongs(ids, facts)) return refuse('mismatch')
  const isUnseen = lookups.channel !== undefined && channel === undefined
  const source = fromSlack ? 'slack' : 'cache'
  return {
    result: isUnseen ? { ok: true, source, channelUnseen: true } : { ok: true, source },
    verifiedAt,
  }
}

/**
 * Under `if-visible`, a channel that Slack does not show is ignored, and so is one that a flood leaves
 * no budget for.
 */
function visibleChannel(
  channel: LookupResult | undefined,
  policy: ChannelPolicy,
): LookupResult | undefined {
  if (policy !== 'if-visible' || !channel) return channel
  const isUnseen =
    channel.state === 'absent' || (channel.state === 'undecidable' && channel.reason === 'budget')
  return isUnseen ? undefined : channel
}

interface FactsOfAll {
  token: Facts
  user: Facts | undefined
  channel: Facts | undefined
}

function userBelongs({ team }: SlackIds, { token, user, channel }: FactsOfAll): boolean {
  if (!user) return true
  if (user.team === team || user.teams?.includes(team) === true) return true
  const { enterprise } = token
  if (enterprise !== undefined && [user.enterprise, user.team].includes(enterprise)) return true
  // A user of another workspace must come through a channel that is shared with it.
  return channel ? channel.isShared === true : user.isStranger !== true
}

function channelBelongs({ team, user }: SlackIds, { token, channel }: FactsOfAll): boolean {
  if (!channel) return true
  const teams = channel.teams ?? []
  // An org-wide bot is in channels of all workspaces.
  if (teams.length > 0 && !teams.includes(team) && token.isOrgWide !== true) return false
  // A direct message has two sides: its user and the bot.
  if (channel.user === undefined || user === undefined) return true
  return user === channel.user || user === token.user
}

function factsOf(lookup: LookupResult | undefined): Facts | undefined {
  return lookup?.state === 'exists' ? lookup.facts : undefined
}

function refuse(reason: 'team' | 'user' | 'bot' | 'channel' | 'mismatch'): Decided {
  return { result: { ok: false, kind: 'refused', reason } }
}

export function toUndecidable({ reason, retryAfterSeconds }: Undecidable): ExistenceResult {
  return {
    ok: false,
    kind: 'undecidable',
    reason,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
}
