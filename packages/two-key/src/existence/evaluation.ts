/** Combines the lookup results of a request into one result: do all ids exist and belong together? */
import type { SlackIds } from '../slack-ids.ts'
import type { ChannelPolicy, ExistenceResult } from './result.ts'
import type { EntityResult, Undecidable } from './entity-lookup.ts'
import type { EntityFacts } from './slack-responses.ts'

export interface RequestResults {
  token: EntityResult
  /** The workspace, if the token is org-wide, and the other teams of the payload. */
  teams: readonly EntityResult[]
  user?: EntityResult | undefined
  bot?: EntityResult | undefined
  channel?: EntityResult | undefined
}

export interface Evaluation {
  result: ExistenceResult
  /** The time of the oldest response, in milliseconds since the epoch; only if all ids exist. */
  verifiedAt?: number
}

export function evaluate(
  ids: SlackIds,
  results: RequestResults,
  policy: ChannelPolicy,
): Evaluation {
  const { token, teams, user, bot } = results
  const channel = visibleChannel(results.channel, policy)
  const parts = [
    ...[token, ...teams].map((result) => ['team', result] as const),
    ['user', user] as const,
    ['bot', bot] as const,
    ['channel', channel] as const,
  ]
  // One absent id decides, even if other lookups failed.
  const absent = parts.find(([, result]) => result?.state === 'absent')
  if (absent) return refuse(absent[0])
  let verifiedAt = Infinity
  let fromSlack = false
  for (const [, result] of parts) {
    if (result?.state === 'undecidable') return { result: toUndecidable(result) }
    if (result?.state !== 'exists') continue
    verifiedAt = Math.min(verifiedAt, result.verifiedAt)
    fromSlack ||= result.fromSlack
  }
  const facts = { token: factsOf(token) ?? {}, user: factsOf(user), channel: factsOf(channel) }
  if (!userBelongs(ids, facts) || !channelBelongs(ids, facts)) return refuse('mismatch')
  const isUnseen = results.channel !== undefined && channel === undefined
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
  channel: EntityResult | undefined,
  policy: ChannelPolicy,
): EntityResult | undefined {
  if (policy !== 'if-visible' || !channel) return channel
  const isUnseen =
    channel.state === 'absent' || (channel.state === 'undecidable' && channel.reason === 'budget')
  return isUnseen ? undefined : channel
}

interface RequestFacts {
  token: EntityFacts
  user: EntityFacts | undefined
  channel: EntityFacts | undefined
}

function userBelongs({ team }: SlackIds, { token, user, channel }: RequestFacts): boolean {
  if (!user) return true
  if (user.team === team || user.teams?.includes(team) === true) return true
  const { enterprise } = token
  if (enterprise !== undefined && [user.enterprise, user.team].includes(enterprise)) return true
  // A user of another workspace must come through a channel that is shared with it.
  return channel ? channel.isShared === true : user.isStranger !== true
}

function channelBelongs({ team, user }: SlackIds, { token, channel }: RequestFacts): boolean {
  if (!channel) return true
  const teams = channel.teams ?? []
  // An org-wide bot is in channels of all workspaces.
  if (teams.length > 0 && !teams.includes(team) && token.isOrgWide !== true) return false
  // A direct message has two sides: its user and the bot.
  if (channel.user === undefined || user === undefined) return true
  return user === channel.user || user === token.user
}

function factsOf(result: EntityResult | undefined): EntityFacts | undefined {
  return result?.state === 'exists' ? result.facts : undefined
}

function refuse(reason: 'team' | 'user' | 'bot' | 'channel' | 'mismatch'): Evaluation {
  return { result: { ok: false, kind: 'refused', reason } }
}

export function toUndecidable(undecidable: Undecidable): ExistenceResult {
  const { reason, retryAfterSeconds, missingScopes } = undecidable
  return {
    ok: false,
    kind: 'undecidable',
    reason,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(missingScopes && { missingScopes }),
  }
}
