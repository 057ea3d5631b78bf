/** What the codes of decisions mean, in a sentence. */
import type { Decision } from './api.ts'

const REASONS: Readonly<Record<string, string>> = {
  slack: 'Verified by Slack',
  cache: 'Verified in the last five minutes',
  signature: 'Signed; it names nobody to check',
  skipped: 'Signed; the team has no token, and the policy allows that',
  missing_header: 'Not signed',
  malformed_header: 'The signature is malformed',
  unknown_version: 'Signed with an unknown version',
  wrong_signature: 'Signed with another secret',
  stale_timestamp: 'Signed too long ago',
  future_timestamp: 'Signed in the future',
  body_too_large: 'The body is too large',
  malformed_body: 'The body cannot be read',
  unknown_content_type: 'The body is of an unknown type',
  unknown_payload: 'The payload is of an unknown kind',
  ambiguous_payload: 'The payload can be read in two ways',
  missing_id: 'A required id is missing',
  bad_id: 'An id is malformed',
  foreign_response_url: 'Responses would go outside Slack',
  foreign_app: 'It is meant for another app',
  team_not_found: 'Slack does not know the team',
  user_not_found: 'Slack does not know the user',
  bot_not_found: 'Slack does not know the bot',
  channel_not_found: 'Slack does not know the channel',
  ids_do_not_fit: 'Team, user and channel do not belong together',
  no_token: 'The team has no token',
  still_installed: 'It reports an uninstall, but the app is installed',
  timeout: 'Slack did not respond in time',
  rate_limit_exceeded: 'Slack limits the rate of requests',
  miss_budget_exhausted: 'Too many unknown ids in the last minute',
  slack_api_error: 'Slack responded with an error',
  slack_unavailable: 'Slack keeps failing, so it is not asked',
  token_rejected: 'Slack refuses the bot token',
  missing_scope: 'The bot token lacks a scope',
  store_unavailable: 'The store did not respond',
}

/** What was not verified of an accepted request, and what a token lacks. */
export function detailsOf({
  channel,
  user,
  missingScopes,
}: Pick<Decision, 'channel' | 'user' | 'missingScopes'>): string[] {
  return [
    ...(channel === 'unseen' ? ['Channel unseen: Slack does not show it to the bot'] : []),
    ...(user === 'unchecked' ? ['No user was checked'] : []),
    ...(missingScopes.length > 0 ? [`Missing: ${missingScopes.join(', ')}`] : []),
  ]
}

export function reasonText(reason: string): string {
  return REASONS[reason] ?? reason.replaceAll('_', ' ')
}

const STAGES = { signature: 'Signature', payload: 'Payload', existence: 'Existence' } as const

export function stageText(stage: keyof typeof STAGES, reason: string): string {
  if (reason === 'cache') return 'Cache'
  return reason === 'slack' ? 'Slack' : STAGES[stage]
}

/** The word of the console for an outcome of the API. */
export function statusOfOutcome(outcome: string): string {
  return outcome === 'undecidable' ? 'undecided' : outcome
}
