/** How a site is known: host, port and path of its address, without the scheme. */
import { parseUrl } from '@strongroom/kit/parse-url'
import { Domain } from '../items/formats.ts'

export interface SiteAddress {
  /** `example.com/blog`. */
  domain: string
  /** Without a slash at its end: `https://example.com/blog`. */
  home: string
  /** Without the port. */
  host: string
  isHttps: boolean
}

/** Undefined for what is no address of a site. */
export function siteAddress(site_url: string): SiteAddress | undefined {
  const url = /^https?:\/\/[^\s\\]+$/i.test(site_url) ? parseUrl(site_url) : undefined
  if (!url) return undefined
  const { protocol, host, hostname, pathname, username, password } = url
  // An IPv6 literal is no name that a key could have, and no site is known by one.
  if (username !== '' || password !== '' || hostname.startsWith('[')) return undefined
  const path = pathname.replace(/\/+$/, '')
  const domain = host + path
  if (!Domain.safeParse(domain).success) return undefined
  return { domain, home: `${protocol}//${domain}`, host: hostname, isHttps: protocol === 'https:' }
}
