/** Checks of a domain: its name, its DNS records and its pages. */
import { isIP } from 'node:net'
import type { SafeFetchResponse } from '@strongroom/kit/safe-fetch'
import type { Dns } from '../proofs/dns.ts'
import type { Checks } from './score.ts'

const BLOCKED =
  /^(?:localhost|(?:[a-z0-9-]+\.)*(?:example\.(?:com|net|org)|test\.com|domain\.com|yoursite\.com|mysite\.com))$/
const RESERVED =
  /(?:^|\.)(?:local|localhost|test|example|invalid|temp|internal|lan|home|arpa|onion)$/
const SUSPICIOUS = /(?:^|[.-])(?:fake|temp|sample|throwaway|spam|phish\w*)(?:[.-]|\d|$)/

/** Staging and test sites are real sites, so their names are not suspicious. */
export function checkDomainName(host: string): Checks['domain_checks'] {
  const labels = host.split('.')
  const isName = isIP(host) === 0
  return {
    valid_format:
      isName &&
      labels.length > 1 &&
      labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label)),
    not_blocked: isName && !BLOCKED.test(host),
    not_suspicious: !SUSPICIOUS.test(host),
    has_valid_tld:
      !RESERVED.test(host) && /^(?:[a-z]{2,63}|xn--[a-z0-9-]+)$/.test(labels.at(-1) ?? ''),
  }
}

/** If the resolver fails, the checks fail. */
export async function checkDns(dns: Dns, host: string): Promise<Checks['dns_checks']> {
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

/** A page is undefined if there was no response. */
export interface Pages {
  https: SafeFetchResponse | undefined
  http: SafeFetchResponse | undefined
  wpJson: SafeFetchResponse | undefined
  wpLogin: SafeFetchResponse | undefined
}

const MIN_CONTENT_LENGTH = 100

const MALWARE =
  /eval\s*\(\s*(?:base64_decode|unescape|atob)\s*\(|document\.write\s*\(\s*unescape\s*\(|coinhive|cryptonight|String\.fromCharCode\((?:\d{1,3},\s*){40}/i
const WORDPRESS =
  /\/wp-(?:content|includes)\/|<meta name=["']generator["'] content=["']WordPress|rel=["']https:\/\/api\.w\.org\//i
const SECURITY_HEADERS = [
  'strict-transport-security',
  'content-security-policy',
  'x-content-type-options',
  'x-frame-options',
  'referrer-policy',
]

type PageChecks = Pick<Checks, 'http_checks' | 'wordpress_checks' | 'security_checks'>

export function checkPages({ https, http, wpJson, wpLogin }: Pages): PageChecks {
  const page = https ?? http
  const html = page ? toText(page) : ''
  return {
    http_checks: {
      responds_https: https !== undefined,
      responds_http: http !== undefined,
      valid_status_code: page !== undefined && page.status >= 200 && page.status < 400,
      has_content: html.length > MIN_CONTENT_LENGTH,
    },
    wordpress_checks: {
      has_wp_indicators: WORDPRESS.test(html) || /api\.w\.org/.test(page?.headers.link ?? ''),
      wp_json_accessible: wpJson?.status === 200 && /"(?:namespaces|routes)"/.test(toText(wpJson)),
      wp_admin_accessible:
        wpLogin !== undefined && wpLogin.status === 200 && /name=["']log["']/.test(toText(wpLogin)),
      wp_version_detected: /content=["']WordPress \d+\.\d+/i.test(html),
    },
    security_checks: {
      ssl_available: https !== undefined,
      no_malware_indicators: page !== undefined && !MALWARE.test(html),
      headers_secure: SECURITY_HEADERS.some((name) => page?.headers[name] !== undefined),
    },
  }
}

function toText({ body }: SafeFetchResponse): string {
  return Buffer.from(body).toString()
}
