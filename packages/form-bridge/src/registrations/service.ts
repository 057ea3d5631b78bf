/** Registers sites and finds their pending registrations. */
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import type { AgencyStore, JoinTokenStore } from '../agencies/store.ts'
import { newTempKey, parseJoinToken, sha256Hex } from '../credentials/keys.ts'
import { formBridgeError } from '../errors.ts'
import { type Caller, callerSubjects } from '../limits/caller.ts'
import { rateLimited, type RateLimits } from '../limits/service.ts'
import type { Usage } from '../limits/usage.ts'
import type { AbuseDetector } from '../security/abuse.ts'
import type { SecurityEventLog } from '../security/event-log.ts'
import { environmentOf, parseSiteAddress, type SiteAddress } from '../sites/address.ts'
import type { SiteEnvironment } from '../sites/item.ts'
import type { Registration } from './item.ts'
import type { RegistrationStore } from './store.ts'

/** A registration as its owner names it. */
export interface RegistrationCredentials {
  registration_id: string
  temp_key: string
}

export interface RegistrationInput {
  site_url: string
  wp_version: string
  plugin_version: string
  environment?: SiteEnvironment | undefined
  admin_email?: string | undefined
  join_token?: string | undefined
  /** An earlier registration of the caller, which expires. */
  supersedes?: RegistrationCredentials | undefined
}

export interface NewRegistration {
  registration: Registration
  temp_key: string
  address: SiteAddress
}

export type RegistrationService = ReturnType<typeof createRegistrationService>

export function createRegistrationService(deps: {
  registrations: RegistrationStore
  agencies: Pick<AgencyStore, 'get'>
  joinTokens: Pick<JoinTokenStore, 'get'>
  fetch: Pick<SafeFetch, 'check'>
  allowHttp: boolean
  limits: RateLimits
  usage: Pick<Usage, 'recordAddress'>
  abuse: AbuseDetector
  events: SecurityEventLog
}) {
  const { registrations, agencies, joinTokens, fetch, allowHttp } = deps
  const { limits, usage, abuse, events } = deps

  /** Rejects an address that the server may not connect to. */
  function requireAddress(site_url: string): SiteAddress {
    const address = parseSiteAddress(site_url)
    if (!address) throw formBridgeError('domain_invalid')
    if (!address.isHttps && !allowHttp) throw formBridgeError('https_required')
    try {
      fetch.check(address.home)
    } catch (error) {
      if (error instanceof SafeFetchError) throw formBridgeError('domain_invalid')
      throw error
    }
    return address
  }

  /** The exchange uses the token up, not the registration. */
  async function requireJoinToken(join_token: string) {
    const name = parseJoinToken(join_token)
    const token = name && (await joinTokens.get(name))
    if (!token || token.uses >= token.max_uses) throw formBridgeError('join_token_invalid')
    const agency = await agencies.get(token.agency_id)
    if (agency?.status !== 'active') throw formBridgeError('agency_closed')
    return { agency_id: token.agency_id, join_token_hash: token.token_hash }
  }

  async function requireWithinLimits(
    caller: Caller,
    domain: string,
    agency_id: string | undefined,
  ): Promise<void> {
    // The sites of an agency often share one host, so they count as the agency and not by address.
    const byCaller = agency_id
      ? [{ scope: 'agency', agency_id } as const]
      : callerSubjects('registration', caller)
    const requested_by = agency_id ?? caller.client_ip
    const byDomain = { scope: 'registration_domain', domain, requested_by } as const
    for (const subject of [...byCaller, byDomain]) {
      const decision = await limits.take(subject)
      if (decision.admitted) continue
      await events.record({ event_type: 'rate_limit', reason: 'registration', caller })
      await abuse.recordFailure('registration_spam', caller.client_ip)
      throw rateLimited(subject.scope, decision)
    }
  }

  async function expireSuperseded(domain: string, superseded: RegistrationCredentials) {
    const name = { domain, registration_id: superseded.registration_id }
    const found = await registrations.get(name)
    if (found?.temp_key === sha256Hex(superseded.temp_key)) await registrations.expire(name)
  }

  return {
    requireAddress,

    async register(input: RegistrationInput, caller: Caller): Promise<NewRegistration> {
      usage.recordAddress('registration', caller)
      const { wp_version, plugin_version, admin_email, join_token, supersedes } = input
      const agency = join_token === undefined ? undefined : await requireJoinToken(join_token)
      // A site with a join token is not blocked because of other sites at its address.
      if (!agency) {
        await abuse.requireNotBlocked(caller.client_ip, 'registration_spam', 'invalid_domains')
      }
      let address: SiteAddress
      try {
        address = requireAddress(input.site_url)
      } catch (error) {
        await abuse.recordFailure('invalid_domains', caller.client_ip)
        throw error
      }
      const { domain } = address
      await requireWithinLimits(caller, domain, agency?.agency_id)
      if (supersedes) await expireSuperseded(domain, supersedes)
      const temp_key = newTempKey()
      const registration = await registrations.create({
        domain,
        temp_key: sha256Hex(temp_key),
        wp_version,
        plugin_version,
        admin_email,
        ...agency,
        environment: environmentOf(address.host, input.environment),
        client_ip: caller.client_ip,
      })
      return { registration, temp_key, address }
    },

    /** The pending registration with this temporary key. */
    async requirePending(
      { registration_id, temp_key }: RegistrationCredentials,
      { domain }: SiteAddress,
      caller: Caller,
    ): Promise<Registration> {
      const found = await registrations.get({ domain, registration_id })
      if (found?.status === 'pending' && found.temp_key === sha256Hex(temp_key)) return found
      // A caller with the right key is not blocked because of wrong keys from the same address.
      const { client_ip } = caller
      await abuse.requireNotBlocked(client_ip, 'registration_spam', 'invalid_domains', 'api_abuse')
      await events.record({ event_type: 'auth_failure', reason: 'registration_invalid', caller })
      await abuse.recordFailure('api_abuse', client_ip)
      await limits.require(...callerSubjects('key_exchange', caller))
      throw formBridgeError('registration_invalid')
    },
  }
}
