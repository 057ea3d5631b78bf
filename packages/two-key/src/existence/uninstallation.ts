/**
 * Whether an app is gone from where a payload says that it is. What the payload names somebody may
 * have made up, so nothing that is still alive may be among it.
 */
import { isSlackId } from '../keys.ts'
import type { Deadlines } from './deadlines.ts'
import { undecided } from './decision.ts'
import type { Finding } from './lookups.ts'
import type { ExistenceChecker, ExistenceVerdict, Installation } from './verdict.ts'

export function createUninstallation(deps: {
  tokenOf(team: string): Promise<string | undefined>
  /** Within the budget of those who may have invented what they say. */
  probe(token: string, deadline: number): Promise<Finding>
  within: Deadlines['within']
  /** Its token is dead. */
  gone(team: string, token: string): Promise<void>
}): ExistenceChecker['checkUninstalled'] {
  const { tokenOf, probe, within, gone } = deps

  /** The tokens that would have to be dead, by whom they are of. */
  async function tokensOf(installation: Installation, given: string | undefined) {
    const { team, otherTeams = [], enterprise, isOrgWide } = installation
    if (given !== undefined) return [{ owner: team, token: given }]
    const own = await heldBy([team, ...otherTeams])
    // A workspace may end its own installation while that of its organisation goes on.
    const isOfOrganisation = isOrgWide === true || own.length === 0
    if (enterprise === undefined || !isOfOrganisation) return own
    return [...own, ...(await heldBy([enterprise]))]
  }

  async function heldBy(owners: readonly string[]) {
    const held = await Promise.all(
      owners.map(async (owner) => ({ owner, token: await tokenOf(owner) })),
    )
    return held.flatMap(({ owner, token }) => (token === undefined ? [] : [{ owner, token }]))
  }

  return async (installation, { deadline, token }): Promise<ExistenceVerdict> => {
    const { team, enterprise = team, otherTeams = [] } = installation
    if (![team, enterprise, ...otherTeams].every(isSlackId)) {
      return { ok: false, kind: 'refused', reason: 'bad_id' }
    }
    const found = await within(deadline, tokensOf(installation, token))
    if (found === 'late') return { ok: false, kind: 'undecidable', reason: 'store' }
    // There is nothing to prove it wrong with, and nothing that it could take away.
    if (found.value.length === 0) return { ok: true, source: 'cache' }
    const findings = await Promise.all(found.value.map(async (held) => probe(held.token, deadline)))
    if (findings.some(({ state }) => state !== 'undecidable')) {
      return { ok: false, kind: 'refused', reason: 'still_installed' }
    }
    for (const finding of findings) {
      if (finding.state === 'undecidable' && finding.isTokenDead !== true) return undecided(finding)
    }
    await within(
      deadline,
      Promise.all(found.value.map(async ({ owner, token: dead }) => gone(owner, dead))),
    )
    return { ok: true, source: 'slack' }
  }
}
