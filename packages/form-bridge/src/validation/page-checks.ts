/** What the pages of a site say. Nothing is believed of a page that did not come. */
import type { SafeFetchResponse } from '@strongroom/kit/safe-fetch'
import type { Checks } from './score.ts'

export interface Pages {
  https: SafeFetchResponse | undefined
  http: SafeFetchResponse | undefined
  wpJson: SafeFetchResponse | undefined
  wpLogin: SafeFetchResponse | undefined
}

const SHORTEST_CONTENT = 100

const malware =
  /eval\s*\(\s*(?:base64_decode|unescape|atob)\s*\(|document\.write\s*\(\s*unescape\s*\(|coinhive|cryptonight|String\.fromCharCode\((?:\d{1,3},\s*){40}/i
const wordPress =
  /\/wp-(?:content|includes)\/|<meta name=["']generator["'] content=["']WordPress|rel=["']https:\/\/api\.w\.org\//i
const secureHeaders = [
  'strict-transport-security',
  'content-security-policy',
  'x-content-type-options',
  'x-frame-options',
  'referrer-policy',
]

type PageChecks = Pick<Checks, 'http_checks' | 'wordpress_checks' | 'security_checks'>

export function pageChecks({ https, http, wpJson, wpLogin }: Pages): PageChecks {
  const page = https ?? http
  const html = page ? textOf(page) : ''
  return {
    http_checks: {
      responds_https: https !== undefined,
      responds_http: http !== undefined,
      valid_status_code: page !== undefined && page.status >= 200 && page.status < 400,
      has_content: html.length > SHORTEST_CONTENT,
    },
    wordpress_checks: {
      has_wp_indicators: wordPress.test(html) || /api\.w\.org/.test(page?.headers.link ?? ''),
      wp_json_accessible: wpJson?.status === 200 && /"(?:namespaces|routes)"/.test(textOf(wpJson)),
      wp_admin_accessible:
        wpLogin !== undefined && wpLogin.status === 200 && /name=["']log["']/.test(textOf(wpLogin)),
      wp_version_detected: /content=["']WordPress \d+\.\d+/i.test(html),
    },
    security_checks: {
      ssl_available: https !== undefined,
      no_malware_indicators: page !== undefined && !malware.test(html),
      headers_secure: secureHeaders.some((name) => page?.headers[name] !== undefined),
    },
  }
}

function textOf({ body }: SafeFetchResponse): string {
  return Buffer.from(body).toString()
}
