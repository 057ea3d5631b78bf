/** A key two that says what it is told to say, and remembers what it was asked. */
import type {
  ExistenceChecker,
  ExistenceOptions,
  ExistenceVerdict,
  Installation,
  SlackIds,
} from '../src/existence/verdict.ts'

export interface AskedChecker extends ExistenceChecker {
  asked: { ids: SlackIds; options: ExistenceOptions }[]
  askedUninstalled: Installation[]
  verdict: ExistenceVerdict
}

export function askedChecker(
  verdict: ExistenceVerdict = { ok: true, source: 'slack' },
): AskedChecker {
  const checker: AskedChecker = {
    asked: [],
    askedUninstalled: [],
    verdict,
    async check(ids, options) {
      checker.asked.push({ ids, options })
      return checker.verdict
    },
    async checkUninstalled({ team, enterprise, otherTeams, isOrgWide }) {
      checker.askedUninstalled.push({
        team,
        ...(enterprise !== undefined && { enterprise }),
        ...(otherTeams && { otherTeams }),
        ...(isOrgWide && { isOrgWide }),
      })
      return checker.verdict
    },
  }
  return checker
}
