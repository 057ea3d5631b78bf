/** The options and results of the existence check. */
import type { Installation, SlackIds } from '../slack-ids.ts'

/**
 * What an unknown channel means. Slack also returns `channel_not_found` for a private conversation that
 * the bot is not in, and people use commands and shortcuts there too: `if-visible` accepts it once
 * team and user are verified.
 */
export type ChannelPolicy = 'strict' | 'if-visible' | 'skip'

export interface IdCheckOptions {
  /** When the result is due, in milliseconds of the clock. */
  deadline: number
  channelPolicy: ChannelPolicy
  /**
   * The bot token to use, if the caller has it, as Bolt does; otherwise the checker reads the team's.
   * Either must belong to the team (auth.test).
   */
  token?: string
}

export type RefusalReason =
  | 'team'
  | 'user'
  | 'bot'
  | 'channel'
  /** All exist but do not belong together: a user of another team, the wrong user of a DM. */
  | 'mismatch'
  | 'no_token'
  | 'bad_id'
  /** The payload reports an uninstall, but the token still works. */
  | 'still_installed'

export type UndecidableReason =
  | 'timeout'
  | 'rate_limited'
  /** Too many unknown ids in the last minute. */
  | 'budget'
  | 'slack_error'
  | 'circuit'
  /** The store did not return the token. */
  | 'store'
  /** Slack rejects the token. No request passes until an operator acts. */
  | 'credential'
  /** The token lacks a scope, so that some requests cannot be verified until an operator acts. */
  | 'scope'

export type ExistenceResult =
  | { ok: true; source: 'cache' | 'slack'; channelUnseen?: boolean }
  | { ok: false; kind: 'refused'; reason: RefusalReason }
  | {
      ok: false
      kind: 'undecidable'
      reason: UndecidableReason
      retryAfterSeconds?: number
      missingScopes?: readonly string[]
    }

/** Decides within the deadline and never throws. */
export interface ExistenceChecker {
  check(ids: SlackIds, options: IdCheckOptions): Promise<ExistenceResult>
  /**
   * Whether the app is really uninstalled: its token is revoked, or there is none. A payload that
   * reports an uninstall while the token still works is forged.
   */
  checkUninstalled(
    installation: Installation,
    options: Pick<IdCheckOptions, 'deadline' | 'token'>,
  ): Promise<ExistenceResult>
}

export function createRefusal(reason: RefusalReason): ExistenceResult {
  return { ok: false, kind: 'refused', reason }
}

export function createUndecidable(reason: UndecidableReason): ExistenceResult {
  return { ok: false, kind: 'undecidable', reason }
}
