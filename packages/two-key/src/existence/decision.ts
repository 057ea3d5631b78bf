/** What findings about the parts of a request come to. */
import type { Facts } from './entities.ts'
import { fits } from './fit.ts'
import type { Finding, Undecided } from './lookups.ts'
import type { ChannelPolicy, ExistenceVerdict, SlackIds } from './verdict.ts'

/** What was found out about each part that was asked for. */
export interface Findings {
  binding: Finding
  /** The workspace, where the token is of its organisation; other teams of the payload. */
  teams: readonly Finding[]
  user?: Finding | undefined
  bot?: Finding | undefined
  channel?: Finding | undefined
}

export interface Decision {
  verdict: ExistenceVerdict
  /** Since when all of it is known, in milliseconds since the epoch; only if all of it exists. */
  verifiedAt?: number
}

export function decide(ids: SlackIds, findings: Findings, policy: ChannelPolicy): Decision {
  const { binding, teams, user, bot } = findings
  const channel = seen(findings.channel, policy)
  const parts = [
    ...[binding, ...teams].map((finding) => ['team', finding] as const),
    ['user', user] as const,
    ['bot', bot] as const,
    ['channel', channel] as const,
  ]
  // A definitive no stands, whatever else could not be found out.
  const absent = parts.find(([, finding]) => finding?.state === 'absent')
  if (absent) return no(absent[0])
  let verifiedAt = Infinity
  let fromSlack = false
  for (const [, finding] of parts) {
    if (finding?.state === 'undecidable') return { verdict: undecided(finding) }
    if (finding?.state !== 'exists') continue
    verifiedAt = Math.min(verifiedAt, finding.verifiedAt)
    fromSlack ||= finding.fromSlack
  }
  const found = { binding: factsOf(binding) ?? {}, user: factsOf(user), channel: factsOf(channel) }
  if (!fits(ids, found)) return no('mismatch')
  const isUnseen = findings.channel !== undefined && channel === undefined
  const source = fromSlack ? 'slack' : 'cache'
  return {
    verdict: isUnseen ? { ok: true, source, channelUnseen: true } : { ok: true, source },
    verifiedAt,
  }
}

/**
 * Under `if-visible` a channel that Slack does not show says nothing, and one that cannot be asked
 * for because of a flood says as little.
 */
function seen(channel: Finding | undefined, policy: ChannelPolicy): Finding | undefined {
  if (policy !== 'if-visible' || !channel) return channel
  const isUnseen =
    channel.state === 'absent' || (channel.state === 'undecidable' && channel.reason === 'budget')
  return isUnseen ? undefined : channel
}

function factsOf(finding: Finding | undefined): Facts | undefined {
  return finding?.state === 'exists' ? finding.facts : undefined
}

function no(reason: 'team' | 'user' | 'bot' | 'channel' | 'mismatch'): Decision {
  return { verdict: { ok: false, kind: 'refused', reason } }
}

export function undecided({ reason, retryAfterSeconds }: Undecided): ExistenceVerdict {
  return {
    ok: false,
    kind: 'undecidable',
    reason,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
}
