/** Checks a domain for whoever has registered it: by name, DNS, pages and what is known of abuse. */
import type { SafeFetch, SafeFetchResponse } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import { Details } from '../items/formats.ts'
import type { Registration } from '../items/registration.ts'
import type { Validation, ValidationLevel } from '../items/validation.ts'
import type { Dns } from '../handshake/dns.ts'
import type { SiteAddress } from '../sites/domain.ts'
import type { createAbusePatterns } from '../store/abuse-patterns.ts'
import type { createRegistrations } from '../store/registrations.ts'
import type { createValidations } from '../store/validations.ts'
import { domainChecks } from './domain-checks.ts'
import { pageChecks } from './page-checks.ts'
import { type Checks, scored } from './score.ts'

const MOST_REGISTRATIONS = 5
const MOST_REDIRECTS = 3
const MOST_BYTES = 262_144

export interface Validated {
  validation: Validation
  cached: boolean
}

export type Validate = ReturnType<typeof createValidate>

export function createValidate(deps: {
  fetch: SafeFetch
  dns: Dns
  validations: ReturnType<typeof createValidations>
  registrations: Pick<ReturnType<typeof createRegistrations>, 'ofDomain'>
  patterns: Pick<ReturnType<typeof createAbusePatterns>, 'ofIdentifier'>
}) {
  const { fetch, dns, validations, registrations, patterns } = deps

  async function page(url: string): Promise<SafeFetchResponse | undefined> {
    try {
      return await fetch(url, { maxRedirects: MOST_REDIRECTS, maxResponseBytes: MOST_BYTES })
    } catch (error) {
      if (error instanceof SafeFetchError) return undefined
      throw error
    }
  }

  async function pagesOf({ domain, home }: SiteAddress) {
    const [https, http, wpJson, wpLogin] = await Promise.all([
      page(`https://${domain}/`),
      page(`http://${domain}/`),
      page(`${home}/wp-json/`),
      page(`${home}/wp-login.php`),
    ])
    return { https, http, wpJson, wpLogin }
  }

  async function dnsChecks({ host }: SiteAddress): Promise<Checks['dns_checks']> {
    // A resolver that does not answer finds nothing.
    const [addresses, mx] = await Promise.all([
      dns.addresses(host).catch(() => []),
      dns.mx(host).catch(() => []),
    ])
    return {
      dns_resolves: addresses.length > 0,
      has_a_record: addresses.some((address) => !address.includes(':')),
      has_mx_record: mx.length > 0,
    }
  }

  async function abuseChecks({ domain, client_ip }: Registration): Promise<Checks['abuse_checks']> {
    const [ofDomain, ofAddress, recent] = await Promise.all([
      patterns.ofIdentifier(domain, { limit: 1 }),
      patterns.ofIdentifier(client_ip, { limit: 10 }),
      registrations.ofDomain(domain, { limit: MOST_REGISTRATIONS + 1 }),
    ])
    const isBad = ofAddress.items.some(
      ({ severity }) => severity === 'high' || severity === 'critical',
    )
    return {
      not_in_blocklist: !isBad,
      registration_frequency_ok: recent.items.length <= MOST_REGISTRATIONS,
      no_suspicious_patterns: ofDomain.items.length === 0 && ofAddress.items.length === 0,
    }
  }

  return {
    /** What was found in the last day at this level, if anything. */
    async cached(domain: string, level: ValidationLevel): Promise<Validated | undefined> {
      const validation = await validations.get(domain, level)
      return validation && { validation, cached: true }
    },

    async check(
      registration: Registration,
      address: SiteAddress,
      validation_level: ValidationLevel,
    ): Promise<Validated> {
      const [pages, dns_checks, abuse_checks] = await Promise.all([
        pagesOf(address),
        dnsChecks(address),
        abuseChecks(registration),
      ])
      const domain_checks = domainChecks(address.host)
      const found = scored(
        { domain_checks, dns_checks, abuse_checks, ...pageChecks(pages) },
        validation_level,
      )
      const { domain, registration_id } = registration
      const validation = await validations.put({
        domain,
        registration_id,
        validation_level,
        ...found,
        validation_results: Details.parse(found.validation_results),
      })
      return { validation, cached: false }
    },
  }
}
