/** The question that key two answers, and its answers. */

/** The ids that a request names, as far as its payload has them. */
export interface SlackIds {
  /** The team whose token is asked with; an organisation's id where the app is installed there. */
  team: string
  /** The organisation, where the payload names one. */
  enterprise?: string
  user?: string
  /** A bot (B…) that acts in place of a user. */
  bot?: string
  channel?: string
  /** Further teams that the payload names; they must exist too. */
  otherTeams?: readonly string[]
}

/** An installation that a payload says is gone, by everything that a handler may know it by. */
export interface Installation {
  team: string
  enterprise?: string
  otherTeams?: readonly string[]
  /** It is of the whole organisation. */
  isOrgWide?: true
}

/**
 * What an unknown channel means. Slack says `channel_not_found` of a private conversation that the
 * bot is not in, which is where people use commands and shortcuts too: `if-visible` lets it pass
 * once team and user are verified.
 */
export type ChannelPolicy = 'strict' | 'if-visible' | 'skip'

export interface ExistenceOptions {
  /** When an answer must be there, in milliseconds of the clock. */
  deadline: number
  channelPolicy: ChannelPolicy
  /**
   * The bot token to ask with, where the caller has it, as Bolt's middleware does; otherwise the
   * checker finds the team's own. Either must prove to be the team's (auth.test).
   */
  token?: string
}

export type RefusalReason =
  | 'team'
  | 'user'
  | 'bot'
  | 'channel'
  /** Each exists, but they do not belong together: a foreign user, the wrong peer of a DM. */
  | 'mismatch'
  | 'no_token'
  | 'bad_id'
  /** The payload says that the app is gone from the team, but its token still works. */
  | 'still_installed'

export type UndecidableReason =
  | 'timeout'
  | 'rate_limited'
  /** Too many unknown ids were asked of late. */
  | 'budget'
  | 'slack_error'
  | 'circuit'
  /** The store has no answer, so that there is no token to ask with. */
  | 'store'
  /** The token is revoked or lacks a scope: nobody passes until the operator acts. */
  | 'credential'

export type ExistenceVerdict =
  | { ok: true; source: 'cache' | 'slack'; channelUnseen?: boolean }
  | { ok: false; kind: 'refused'; reason: RefusalReason }
  | { ok: false; kind: 'undecidable'; reason: UndecidableReason; retryAfterSeconds?: number }

/** Decides within the deadline; never throws, never hangs. */
export interface ExistenceChecker {
  check(ids: SlackIds, options: ExistenceOptions): Promise<ExistenceVerdict>
  /**
   * Whether the app is really gone from where it was installed: its token is dead, or there is
   * none. A payload that says so while the token still works is forged.
   */
  checkUninstalled(
    installation: Installation,
    options: Pick<ExistenceOptions, 'deadline' | 'token'>,
  ): Promise<ExistenceVerdict>
}
