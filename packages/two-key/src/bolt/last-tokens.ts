/**
 * The token that each team's last verified request came with. Of a team that it has none of it knows
 * nothing: the app may well be installed there, so nobody may say that it is gone.
 */
import { keep } from '../existence/knowledge.ts'
import type { ExistenceChecker, Installation, SlackIds } from '../existence/verdict.ts'

export interface LastTokens {
  tokenOf(team: string): Promise<string | undefined>
  /** Of a request that was verified. */
  remember(ids: SlackIds, token: string, options: { isOrgWide: boolean }): void
  /** Believes no uninstallation that it has no token to prove wrong with. */
  guarding(checker: ExistenceChecker): ExistenceChecker
}

export function createLastTokens(): LastTokens {
  const tokens = new Map<string, string>()

  function isKnown({ team, otherTeams = [], enterprise, isOrgWide }: Installation): boolean {
    // Any organisation may be named beside a team: it is asked only for an installation of its own.
    const isOfOrganisation = isOrgWide === true && enterprise !== undefined
    if (isOfOrganisation && tokens.has(enterprise)) return true
    return [team, ...otherTeams].every((each) => tokens.has(each))
  }

  return {
    tokenOf: async (team) => tokens.get(team),

    remember({ team, enterprise }, token, { isOrgWide }) {
      keep(tokens, team, token)
      if (isOrgWide && enterprise !== undefined) keep(tokens, enterprise, token)
    },

    guarding: (checker) => ({
      ...checker,
      checkUninstalled: async (installation, asked) =>
        asked.token !== undefined || isKnown(installation)
          ? checker.checkUninstalled(installation, asked)
          : { ok: false, kind: 'refused', reason: 'no_token' },
    }),
  }
}
