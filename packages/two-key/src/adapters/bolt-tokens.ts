/**
 * The token of each team's last verified request. A team without one may still have installed the app,
 * so an uninstall of such a team cannot be confirmed.
 */
import { LRUCache } from 'lru-cache'
import { type ExistenceChecker, createRefusal } from '../existence/result.ts'
import type { Installation, SlackIds } from '../slack-ids.ts'

const MAX_TEAMS = 50_000

export interface BoltTokens {
  tokenOf(team: string): Promise<string | undefined>
  /** Keeps the token of a verified request. */
  remember(ids: SlackIds, token: string, options: { isOrgWide: boolean }): void
  /** Rejects an uninstall that no token could disprove. */
  withUninstallCheck(checker: ExistenceChecker): ExistenceChecker
}

export function createBoltTokens(): BoltTokens {
  const tokens = new LRUCache<string, string>({ max: MAX_TEAMS })

  function hasToken({ team, otherTeams = [], enterprise, isOrgWide }: Installation): boolean {
    // A payload may name any organisation, so its token counts only for an org-wide installation.
    if (isOrgWide === true && enterprise !== undefined && tokens.has(enterprise)) return true
    return [team, ...otherTeams].every((each) => tokens.has(each))
  }

  return {
    tokenOf: async (team) => tokens.get(team),

    remember({ team, enterprise }, token, { isOrgWide }) {
      tokens.set(team, token)
      if (isOrgWide && enterprise !== undefined) tokens.set(enterprise, token)
    },

    withUninstallCheck: (checker) => ({
      ...checker,
      checkUninstalled: async (installation, options) =>
        options.token !== undefined || hasToken(installation)
          ? checker.checkUninstalled(installation, options)
          : createRefusal('no_token'),
    }),
  }
}
