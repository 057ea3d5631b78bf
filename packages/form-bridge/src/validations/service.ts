/** Validates the domain of a registration: name, DNS, pages and known abuse. */
import type { SafeFetch, SafeFetchResponse } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import { Details } from '../formats.ts'
import type { Dns } from '../proofs/dns.ts'
import type { Registration } from '../registrations/item.ts'
import type { RegistrationStore } from '../registrations/store.ts'
import type { AbuseStore } from '../security/abuse-store.ts'
import type { SiteAddress } from '../sites/address.ts'
import { checkDns, checkDomainName, checkPages, type Pages } from './checks.ts'
import type { Validation, ValidationLevel } from './item.ts'
import { type Checks, scoreChecks } from './score.ts'
import type { ValidationStore } from './store.ts'

/** More registrations of a domain within an hour are suspicious. */
const MAX_REGISTRATIONS = 5
const MAX_REDIRECTS = 3
const MAX_RESPONSE_BYTES = 262_144

export type ValidationService = ReturnType<typeof createValidationService>

export function createValidationService(deps: {
  fetch: SafeFetch
  dns: Dns
  validations: ValidationStore
  registrations: Pick<RegistrationStore, 'listByDomain'>
  abusePatterns: Pick<AbuseStore, 'listByIdentifier'>
}) {
  const { fetch, dns, validations, registrations, abusePatterns } = deps

  async function fetchPage(url: string): Promise<SafeFetchResponse | undefined> {
    try {
      return await fetch(url, {
        maxRedirects: MAX_REDIRECTS,
        maxResponseBytes: MAX_RESPONSE_BYTES,
      })
    } catch (error) {
      if (error instanceof SafeFetchError) return undefined
      throw error
    }
  }

  async function fetchPages({ domain, home }: SiteAddress): Promise<Pages> {
    const [https, http, wpJson, wpLogin] = await Promise.all([
      fetchPage(`https://${domain}/`),
      fetchPage(`http://${domain}/`),
      fetchPage(`${home}/wp-json/`),
      fetchPage(`${home}/wp-login.php`),
    ])
    return { https, http, wpJson, wpLogin }
  }

  async function checkAbuse({ domain, client_ip }: Registration): Promise<Checks['abuse_checks']> {
    const [byDomain, byAddress, recent] = await Promise.all([
      abusePatterns.listByIdentifier(domain, { limit: 1 }),
      abusePatterns.listByIdentifier(client_ip, { limit: 10 }),
      registrations.listByDomain(domain, { limit: MAX_REGISTRATIONS + 1 }),
    ])
    const isSevere = byAddress.items.some(
      ({ severity }) => severity === 'high' || severity === 'critical',
    )
    return {
      not_in_blocklist: !isSevere,
      registration_frequency_ok: recent.items.length <= MAX_REGISTRATIONS,
      no_suspicious_patterns: byDomain.items.length === 0 && byAddress.items.length === 0,
    }
  }

  return {
    /** A validation of this level from the last day. */
    findCached(domain: string, level: ValidationLevel): Promise<Validation | undefined> {
      return validations.get(domain, level)
    },

    async validate(
      registration: Registration,
      address: SiteAddress,
      validation_level: ValidationLevel,
    ): Promise<Validation> {
      const [pages, dns_checks, abuse_checks] = await Promise.all([
        fetchPages(address),
        checkDns(dns, address.host),
        checkAbuse(registration),
      ])
      const domain_checks = checkDomainName(address.host)
      const score = scoreChecks(
        { domain_checks, dns_checks, abuse_checks, ...checkPages(pages) },
        validation_level,
      )
      const { domain, registration_id } = registration
      return validations.put({
        domain,
        registration_id,
        validation_level,
        ...score,
        validation_results: Details.parse(score.validation_results),
      })
    },
  }
}
