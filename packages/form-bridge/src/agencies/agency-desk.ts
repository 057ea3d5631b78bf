/** Agencies: made by operators, and what each does with its own key. */
import { formBridgeError } from '../errors.ts'
import { type Agency, type AgencyStatus, newAgencyId } from '../items/agency.ts'
import type { AgencySite } from '../items/agency-site.ts'
import { hashOf, isKey, newJoinToken, newKey } from '../keys/key-text.ts'
import type { createAgencies } from '../store/agencies.ts'
import type { PageRequest } from '../store/deps.ts'
import type { createJoinTokens } from '../store/join-tokens.ts'

export interface NewAgency {
  agency_name: string
  contact_email: string
  max_sites: number
}

export interface NewJoinToken {
  role: AgencySite['role']
  max_uses: number
  expires_in: number
}

export type AgencyDesk = ReturnType<typeof createAgencyDesk>

export function createAgencyDesk(deps: {
  agencies: ReturnType<typeof createAgencies>
  joinTokens: ReturnType<typeof createJoinTokens>
}) {
  const { agencies, joinTokens } = deps

  async function existing(agency_id: string): Promise<Agency> {
    const agency = await agencies.get(agency_id)
    if (!agency) throw formBridgeError('agency_not_found')
    return agency
  }

  return {
    existing,

    /** Whose key it is; a suspended agency may look at nothing. */
    async ofKey(key: string): Promise<Agency> {
      const agency = isKey('agency', key) ? await agencies.ofKey(hashOf(key)) : undefined
      if (!agency) {
        throw formBridgeError('agency_unauthorized', { headers: { 'www-authenticate': 'Bearer' } })
      }
      if (agency.status !== 'active') throw formBridgeError('agency_suspended')
      return agency
    },

    /** With its key, which is never shown again. */
    async create(given: NewAgency): Promise<{ agency: Agency; api_key: string }> {
      const api_key = newKey('agency')
      const made = await agencies.create({
        ...given,
        agency_id: newAgencyId(),
        api_key_hash: hashOf(api_key),
      })
      if (!made) throw formBridgeError('changed_meanwhile')
      return { agency: made, api_key }
    },

    list: (status: AgencyStatus, page: PageRequest) => agencies.list(status, page),

    async change(
      agency_id: string,
      { max_sites, status }: { max_sites?: number | undefined; status?: AgencyStatus | undefined },
    ): Promise<Agency> {
      await existing(agency_id)
      if (max_sites !== undefined) await agencies.setLimit(agency_id, max_sites)
      if (status !== undefined) await agencies.setStatus(agency_id, status)
      return existing(agency_id)
    },

    /** The old key ends at once. */
    async replaceKey(agency: Agency): Promise<string> {
      const api_key = newKey('agency')
      if (!(await agencies.replaceKey(agency, hashOf(api_key)))) {
        throw formBridgeError('changed_meanwhile')
      }
      return api_key
    },

    sites: (agency_id: string, page: PageRequest) => agencies.sites(agency_id, page),

    /** Whether the site is one of the agency's: of any other it may not even know that it exists. */
    async requireMember(agency_id: string, site_id: string): Promise<void> {
      if (!(await agencies.isMember({ agency_id, site_id })))
        throw formBridgeError('site_not_found')
    },

    /** An operator says that a site is for trying things out, or that it is not. */
    async setOutsideLimit(agency_id: string, site_id: string, outside: boolean): Promise<Agency> {
      await this.requireMember(agency_id, site_id)
      const done = await agencies.setOutsideLimit({ agency_id, site_id }, outside)
      if (done === 'full') throw formBridgeError('agency_full')
      return existing(agency_id)
    },

    async release(agency_id: string, site_id: string): Promise<void> {
      if (!(await agencies.leave({ agency_id, site_id }))) throw formBridgeError('site_not_found')
    },

    async newJoinToken(agency_id: string, { role, max_uses, expires_in }: NewJoinToken) {
      const token = newJoinToken(agency_id)
      const item = { agency_id, token_hash: hashOf(token), role, max_uses }
      return { token, made: await joinTokens.create(item, expires_in) }
    },

    joinTokens: (agency_id: string, page: PageRequest) => joinTokens.list(agency_id, page),

    async revokeJoinToken(agency_id: string, token_hash: string): Promise<void> {
      if (!(await joinTokens.revoke({ agency_id, token_hash }))) {
        throw formBridgeError('join_token_not_found')
      }
    },
  }
}
