/** Registration: somebody says that a domain is theirs. */
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import { formBridgeError } from '../errors.ts'
import type { Registration } from '../items/registration.ts'
import type { SiteEnvironment } from '../items/site.ts'
import { hashOf, joinTokenIn, newTempKey } from '../keys/key-text.ts'
import type { Caller } from '../limits/client-ids.ts'
import { type RateGuard, rateLimited } from '../limits/guard.ts'
import type { AbuseWatch } from '../security/abuse.ts'
import type { Journal } from '../security/journal.ts'
import { environmentOf } from '../sites/environment.ts'
import { siteAddress, type SiteAddress } from '../sites/domain.ts'
import type { createAgencies } from '../store/agencies.ts'
import type { createJoinTokens } from '../store/join-tokens.ts'
import type { createRegistrations } from '../store/registrations.ts'

export interface Registering {
  site_url: string
  wp_version: string
  plugin_version: string
  environment?: SiteEnvironment | undefined
  admin_email?: string | undefined
  join_token?: string | undefined
  supersedes?: { registration_id: string; temp_key: string } | undefined
}

export interface Registered {
  registration: Registration
  temp_key: string
  address: SiteAddress
}

export type Register = ReturnType<typeof createRegister>

export function createRegister(deps: {
  registrations: ReturnType<typeof createRegistrations>
  agencies: Pick<ReturnType<typeof createAgencies>, 'get'>
  joinTokens: Pick<ReturnType<typeof createJoinTokens>, 'get'>
  fetch: Pick<SafeFetch, 'check'>
  allowHttp: boolean
  guard: RateGuard
  abuse: AbuseWatch
  journal: Journal
}) {
  const { registrations, agencies, joinTokens, fetch, allowHttp, guard, abuse, journal } = deps

  /** The address of a site that may be connected. */
  function addressOf(site_url: string): SiteAddress {
    const address = siteAddress(site_url)
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

  /** The agency that a token names, if it lets sites in; spent only by the exchange. */
  async function agencyOf(join_token: string) {
    const named = joinTokenIn(join_token)
    const token = named && (await joinTokens.get(named))
    if (!token || token.uses >= token.max_uses) throw formBridgeError('join_token_invalid')
    const agency = await agencies.get(token.agency_id)
    if (agency?.status !== 'active') throw formBridgeError('agency_closed')
    return { agency_id: token.agency_id, join_token_hash: token.token_hash }
  }

  async function count(caller: Caller, domain: string, agency_id: string | undefined) {
    // The sites of an agency come from one host: they are counted as the agency's.
    const own = agency_id
      ? ({ scope: 'agency', agency_id } as const)
      : ({ scope: 'registration', client_ip: caller.client_ip } as const)
    const asked_by = agency_id ?? caller.client_ip
    const aimed = { scope: 'registration_domain', domain, asked_by } as const
    for (const subject of [own, aimed]) {
      const decision = await guard.take(subject)
      if (decision.admitted) continue
      await journal.note({ event_type: 'rate_limit', reason: 'registration', caller })
      await abuse.failed('registration_spam', caller.client_ip)
      throw rateLimited(subject.scope, decision)
    }
  }

  return {
    addressOf,

    async register(given: Registering, caller: Caller): Promise<Registered> {
      const { wp_version, plugin_version, admin_email, join_token, supersedes } = given
      const agency = join_token === undefined ? undefined : await agencyOf(join_token)
      // Whom an agency vouches for does not pay for its neighbours.
      if (!agency) {
        await abuse.refuseBlocked(caller.client_ip, 'registration_spam', 'invalid_domains')
      }
      let address: SiteAddress
      try {
        address = addressOf(given.site_url)
      } catch (error) {
        await abuse.failed('invalid_domains', caller.client_ip)
        throw error
      }
      const { domain } = address
      await count(caller, domain, agency?.agency_id)
      if (supersedes) await endOwn({ domain, ...supersedes })
      const temp_key = newTempKey()
      const registration = await registrations.create({
        domain,
        temp_key: hashOf(temp_key),
        wp_version,
        plugin_version,
        admin_email,
        ...agency,
        environment: environmentOf(address.host, given.environment),
        client_ip: caller.client_ip,
      })
      return { registration, temp_key, address }
    },
  }

  /** Only its owner's: whoever has the key. */
  async function endOwn(given: { domain: string; registration_id: string; temp_key: string }) {
    const own = await registrations.get(given)
    if (own?.temp_key === hashOf(given.temp_key)) await registrations.expire(given)
  }
}
