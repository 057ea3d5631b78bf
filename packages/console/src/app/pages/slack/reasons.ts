/** What the reasons of decisions mean, in a sentence. */

const REASONS: Readonly<Record<string, string>> = {
  slack: 'Team, user and channel exist',
  cache: 'Verified in the last five minutes',
  signature: 'Signed; it names nobody to check',
  skipped: 'Signed; the team has no token, and the policy allows that',
  missing_signature: 'Not signed',
  wrong_signature: 'Signed with another secret',
  stale_timestamp: 'Signed too long ago',
  future_timestamp: 'Signed in the future',
  body_too_large: 'The body is too large',
  malformed_body: 'The body cannot be read',
  unknown_content_type: 'The body is of an unknown type',
  unknown_payload: 'The payload is of an unknown kind',
  foreign_response_url: 'Responses would go outside Slack',
  foreign_app: 'It is meant for another app',
  team: 'Slack does not know the team',
  user: 'Slack does not know the user',
  bot: 'Slack does not know the bot',
  channel: 'Slack does not know the channel',
  mismatch: 'Team, user and channel do not belong together',
  no_token: 'The team has no token',
  bad_id: 'An id is malformed',
  still_installed: 'It reports an uninstall, but the app is installed',
  timeout: 'Slack did not respond in time',
  rate_limited: 'Slack limits the rate of requests',
  budget: 'Too many unknown ids in the last minute',
  slack_error: 'Slack responded with an error',
  circuit: 'Slack keeps failing, so it is not asked',
  credential: 'Slack refuses the bot token',
  store: 'The store did not respond',
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
