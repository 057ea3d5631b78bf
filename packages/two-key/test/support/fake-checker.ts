/** A checker with a fixed result that records its calls. */
import type {
  ExistenceChecker,
  IdCheckOptions,
  ExistenceResult,
} from '../../src/existence/result.ts'
import type { Installation, SlackIds } from '../../src/slack-ids.ts'

export interface FakeChecker extends ExistenceChecker {
  checks: { ids: SlackIds; options: IdCheckOptions }[]
  uninstallChecks: Installation[]
  result: ExistenceResult
}

export function createFakeChecker(
  result: ExistenceResult = { ok: true, source: 'slack' },
): FakeChecker {
  const checker: FakeChecker = {
    checks: [],
    uninstallChecks: [],
    result,
    async check(ids, options) {
      checker.checks.push({ ids, options })
      return checker.result
    },
    async checkUninstalled({ team, enterprise, otherTeams, isOrgWide }) {
      checker.uninstallChecks.push({
        team,
        ...(enterprise !== undefined && { enterprise }),
        ...(otherTeams && { otherTeams }),
        ...(isOrgWide && { isOrgWide }),
      })
      return checker.result
    },
  }
  return checker
}
