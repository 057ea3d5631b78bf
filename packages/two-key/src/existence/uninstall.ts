/**
 * Whether an app is really uninstalled where a payload says so. The payload may be forged, so no
 * installation that it names may still have a working token.
 */
import type { Deadline } from '@strongroom/kit/deadline'
import { type Installation, isSlackId } from '../slack-ids.ts'
import { toUndecidable } from './evaluation.ts'
import { type ExistenceResult, createRefusal, createUndecidable } from './result.ts'
import type { EntityResult } from './entity-lookup.ts'

export type UninstallCheck = (
  installation: Installation,
  options: { deadline: Deadline; token?: string | undefined },
) => Promise<ExistenceResult>

export function createUninstallCheck(deps: {
  tokenOf(team: string): Promise<string | undefined>
  probeToken(token: string, deadline: Deadline): Promise<EntityResult>
  /** The token is revoked. */
  onUninstalled(team: string, token: string): Promise<void>
}): UninstallCheck {
  const { tokenOf, probeToken, onUninstalled } = deps

  /** The tokens that must all be revoked, with their owners. */
  async function tokensOf(installation: Installation, given: string | undefined) {
    const { team, otherTeams = [], enterprise, isOrgWide } = installation
    if (given !== undefined) return [{ owner: team, token: given }]
    const own = await storedTokens([team, ...otherTeams])
    // A workspace may remove its own installation while the organisation's remains.
    const includesOrganisation = isOrgWide === true || own.length === 0
    if (enterprise === undefined || !includesOrganisation) return own
    return [...own, ...(await storedTokens([enterprise]))]
  }

  async function storedTokens(owners: readonly string[]) {
    const tokens = await Promise.all(
      owners.map(async (owner) => ({ owner, token: await tokenOf(owner) })),
    )
    return tokens.flatMap(({ owner, token }) => (token === undefined ? [] : [{ owner, token }]))
  }

  return async (installation, { deadline, token: given }) => {
    const { team, enterprise = team, otherTeams = [] } = installation
    if (![team, enterprise, ...otherTeams].every(isSlackId)) return createRefusal('bad_id')
    const found = await deadline.settle(tokensOf(installation, given))
    if (found === 'late') return createUndecidable('store')
    const tokens = found.value
    // Without a token nothing contradicts the payload, and there is nothing to remove.
    if (tokens.length === 0) return { ok: true, source: 'cache' }
    const probes = await Promise.all(tokens.map(async ({ token }) => probeToken(token, deadline)))
    if (probes.some(({ state }) => state !== 'undecidable')) return createRefusal('still_installed')
    for (const probe of probes) {
      if (probe.state === 'undecidable' && probe.isTokenRevoked !== true)
        return toUndecidable(probe)
    }
    await deadline.settle(
      Promise.all(tokens.map(async ({ owner, token }) => onUninstalled(owner, token))),
    )
    return { ok: true, source: 'slack' }
  }
}
