/** What an error of Slack's Web API says about the question that was asked. */

export type SlackErrorClass =
  /** A definitive no. Of a channel it may also mean that the bot does not see it. */
  | 'absent'
  /** The token or the installation is wrong: nothing is known about the ids. */
  | 'credential'
  /** May be answered in a moment. */
  | 'transient'

const ABSENT =
  'team_not_found user_not_found user_not_visible channel_not_found bot_not_found org_not_found enterprise_not_found team_not_on_enterprise'

/** Of a token that is dead for good, as after an uninstallation. */
const DEAD = 'invalid_auth account_inactive token_revoked token_expired not_authed'

const CREDENTIAL = `${DEAD} missing_scope not_allowed_token_type no_permission access_denied accesslimited ekm_access_denied enterprise_is_restricted org_login_required team_access_not_granted two_factor_setup_required is_bot deprecated_endpoint method_deprecated unknown_method`

const classes = new Map<string, SlackErrorClass>([
  ...ABSENT.split(' ').map((error) => [error, 'absent'] as const),
  ...CREDENTIAL.split(' ').map((error) => [error, 'credential'] as const),
])
const dead = new Set(DEAD.split(' '))

/** An error that nobody knows decides nothing, like one that will pass. */
export function classOf(error: string): SlackErrorClass {
  return classes.get(error) ?? 'transient'
}

export function isDeadToken(error: string): boolean {
  return dead.has(error)
}
