/** Site addresses: the domain by which a site is stored, and which hosts are for staging. */
import { parseUrl } from '@strongroom/kit/parse-url'
import { Domain } from '../formats.ts'
import type { SiteEnvironment } from './item.ts'

export interface SiteAddress {
  /** Host, port and path without the scheme: `example.com/blog`. */
  domain: string
  /** Without a trailing slash: `https://example.com/blog`. */
  home: string
  /** Without the port. */
  host: string
  isHttps: boolean
}

/** Undefined if the URL cannot be the address of a site. */
export function parseSiteAddress(site_url: string): SiteAddress | undefined {
  const url = /^https?:\/\/[^\s\\]+$/i.test(site_url) ? parseUrl(site_url) : undefined
  if (!url) return undefined
  const { protocol, host, hostname, pathname, username, password } = url
  // A key cannot hold an IPv6 literal.
  if (username !== '' || password !== '' || hostname.startsWith('[')) return undefined
  const path = pathname.replace(/\/+$/, '')
  const domain = host + path
  if (!Domain.safeParse(domain).success) return undefined
  return { domain, home: `${protocol}//${domain}`, host: hostname, isHttps: protocol === 'https:' }
}

const STAGING_NAMES =
  /^(?:staging|stage|stg|dev|develop|development|test|testing|qa|uat|demo|sandbox|preview|local)\d*\.|^(?:staging|stg|dev)\d*-|[.-](?:staging|stage|stg|dev)\d*\./

/** Domains under which hosting providers create staging copies. */
const STAGING_DOMAINS = [
  'cloudwaysapps.com',
  'dev.cc',
  'flywheelsites.com',
  'flywheelstaging.com',
  'kinsta.cloud',
  'kinsta.com',
  'local',
  'localhost',
  'lndo.site',
  'ddev.site',
  'myftpupload.com',
  'mystagingwebsite.com',
  'ngrok.io',
  'ngrok-free.app',
  'pantheonsite.io',
  'platformsh.site',
  'runcloud.link',
  'sg-host.com',
  'wpcomstaging.com',
  'wpengine.com',
  'wpenginepowered.com',
  'wpsandbox.pro',
  'instawp.xyz',
  'tastewp.com',
  'test',
]

/** Staging sites do not count against the limit of an agency, so the plugin cannot claim to be one. */
export function isStagingHost(host: string): boolean {
  return (
    STAGING_NAMES.test(host) ||
    STAGING_DOMAINS.some((domain) => host === domain || host.endsWith(`.${domain}`))
  )
}

/** The environment that the site reports, else the one that its host name suggests. */
export function environmentOf(host: string, claimed: SiteEnvironment | undefined): SiteEnvironment {
  if (claimed !== undefined && claimed !== 'production') return claimed
  return isStagingHost(host) ? 'staging' : 'production'
}
