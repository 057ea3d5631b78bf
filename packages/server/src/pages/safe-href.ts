import { parseUrl } from '@strongroom/kit/parse-url'

/** The address if a link may lead there: this server, a place on the page, or the web; never a script. */
export function safeHref(address: string): string | undefined {
  if (/^#[^\s]*$/.test(address) || /^\/(?![/\\])[^\s\\]*$/.test(address)) return address
  return /^https?:\/\/[^\s]+$/i.test(address) && parseUrl(address) ? address : undefined
}
