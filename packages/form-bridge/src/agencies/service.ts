/** Agencies: created by operators, used by each agency with its own key. */
import type { TransactWriteItem } from '@strongroom/kit/db'
import type { PageRequest } from '@strongroom/kit/paging'
import { isKey, newJoinToken, newKey, sha256Hex } from '../credentials/keys.ts'
import { formBridgeError } from '../errors.ts'
import {
  type Agency,
  type AgencyAction,
  type AgencyRole,
  type AgencySite,
  type AgencyStatus,
  newAgencyId,
  ROLES_THAT_MAY,
} from './item.ts'
import type { MembershipStore } from './membership.ts'
import type { AgencyStore, JoinTokenStore } from './store.ts'

export interface AgencyInput {
  agency_name: string
  contact_email: string
  max_sites: number
}

export interface AgencyChange {
  max_sites?: number | undefined
  status?: AgencyStatus | undefined
}

export interface JoinTokenInput {
  role: AgencyRole
  max_uses: number
  expires_in: number
}

/** Lets an agency change one of its sites. */
export interface AgencyPermission {
  /** Refuses the transaction if the role has changed since. */
  part: TransactWriteItem
  /** Throws if the agency may not do it now. */
  require(): Promise<void>
}

export type AgencyService = ReturnType<typeof createAgencyService>

export function createAgencyService(deps: {
  agencies: AgencyStore
  joinTokens: JoinTokenStore
  memberships: Pick<MembershipStore, 'requirePart'>
}) {
  const { agencies, joinTokens, memberships } = deps

  async function requireAgency(agency_id: string): Promise<Agency> {
    const agency = await agencies.get(agency_id)
    if (!agency) throw formBridgeError('agency_not_found')
    return agency
  }

  /** For a site of another agency the error is the same as for one that does not exist. */
  async function requireMember(agency_id: string, site_id: string): Promise<AgencySite> {
    const member = await agencies.getMember({ agency_id, site_id })
    if (!member) throw formBridgeError('site_not_found')
    return member
  }

  async function requireRole(agency_id: string, site_id: string, action: AgencyAction) {
    const { role } = await requireMember(agency_id, site_id)
    const required = ROLES_THAT_MAY[action]
    if (!required.includes(role)) {
      throw formBridgeError('role_required', { data: { role, required } })
    }
  }

  return {
    requireAgency,
    requireMember,

    /** What an agency may do with a site is decided by the write that does it. */
    async requirePermission(
      agency_id: string,
      site_id: string,
      action: AgencyAction,
    ): Promise<AgencyPermission> {
      const require = () => requireRole(agency_id, site_id, action)
      await require()
      return { part: memberships.requirePart({ agency_id, site_id }, action), require }
    },

    /** The active agency with this key. */
    async authenticate(key: string): Promise<Agency> {
      const agency = isKey('agency', key) ? await agencies.findByKey(sha256Hex(key)) : undefined
      if (!agency) {
        throw formBridgeError('agency_unauthorized', { headers: { 'www-authenticate': 'Bearer' } })
      }
      if (agency.status !== 'active') throw formBridgeError('agency_suspended')
      return agency
    },

    /** The key is returned only here. */
    async create(
      input: AgencyInput,
      agency_id = newAgencyId(),
    ): Promise<{ agency: Agency; api_key: string }> {
      const api_key = newKey('agency')
      const result = await agencies.create({
        ...input,
        agency_id,
        api_key_hash: sha256Hex(api_key),
      })
      if (result.kind === 'conflict') throw formBridgeError('changed_meanwhile')
      return { agency: result.agency, api_key }
    },

    list: (status: AgencyStatus, page: PageRequest) => agencies.list(status, page),

    async change(agency_id: string, change: AgencyChange): Promise<Agency> {
      await requireAgency(agency_id)
      await agencies.change(agency_id, change)
      return requireAgency(agency_id)
    },

    /** The old key stops working immediately. */
    async rotateKey(agency: Agency): Promise<string> {
      const api_key = newKey('agency')
      const { kind } = await agencies.rotateKey(agency, sha256Hex(api_key))
      if (kind === 'conflict') throw formBridgeError('changed_meanwhile')
      return api_key
    },

    listSites: (agency_id: string, page: PageRequest) => agencies.listSites(agency_id, page),

    async setOutsideLimit(agency_id: string, site_id: string, outside: boolean): Promise<Agency> {
      await requireMember(agency_id, site_id)
      const { kind } = await agencies.setOutsideLimit({ agency_id, site_id }, outside)
      if (kind === 'full') throw formBridgeError('agency_full')
      return requireAgency(agency_id)
    },

    async setRole(agency_id: string, site_id: string, role: AgencyRole): Promise<AgencySite> {
      if (!(await agencies.setRole({ agency_id, site_id }, role))) {
        throw formBridgeError('site_not_found')
      }
      return requireMember(agency_id, site_id)
    },

    async removeSite(agency_id: string, site_id: string): Promise<void> {
      if (await agencies.leave({ agency_id, site_id }, ROLES_THAT_MAY.remove)) return
      await requireRole(agency_id, site_id, 'remove')
      throw formBridgeError('changed_meanwhile')
    },

    /** The token is returned only here. */
    async createJoinToken(agency_id: string, { role, max_uses, expires_in }: JoinTokenInput) {
      const token = newJoinToken(agency_id)
      const fields = { agency_id, token_hash: sha256Hex(token), role, max_uses }
      return { token, joinToken: await joinTokens.create(fields, expires_in) }
    },

    listJoinTokens: (agency_id: string, page: PageRequest) => joinTokens.list(agency_id, page),

    async revokeJoinToken(agency_id: string, token_hash: string): Promise<void> {
      if (!(await joinTokens.revoke({ agency_id, token_hash }))) {
        throw formBridgeError('join_token_not_found')
      }
    },
  }
}
