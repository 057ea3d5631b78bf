/** What a domain's name alone says. Staging and test sites are sites: their names cost nothing. */
import { isIP } from 'node:net'
import type { Checks } from './score.ts'

const blocked =
  /^(?:localhost|(?:[a-z0-9-]+\.)*(?:example\.(?:com|net|org)|test\.com|domain\.com|yoursite\.com|mysite\.com))$/
const reserved =
  /(?:^|\.)(?:local|localhost|test|example|invalid|temp|internal|lan|home|arpa|onion)$/
const suspicious = /(?:^|[.-])(?:fake|temp|sample|throwaway|spam|phish\w*)(?:[.-]|\d|$)/

export function domainChecks(host: string): Checks['domain_checks'] {
  const labels = host.split('.')
  const isName = isIP(host) === 0
  return {
    valid_format:
      isName &&
      labels.length > 1 &&
      labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label)),
    not_blocked: isName && !blocked.test(host),
    not_suspicious: !suspicious.test(host),
    has_valid_tld:
      !reserved.test(host) && /^(?:[a-z]{2,63}|xn--[a-z0-9-]+)$/.test(labels.at(-1) ?? ''),
  }
}
