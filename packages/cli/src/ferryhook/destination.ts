import { parseUrl } from '@strongroom/kit/parse-url'
import { UsageError } from '../command.ts'

/** The host of an address to deliver to. */
export function destinationHost(url: string): string {
  const host = parseUrl(url)?.host
  // Without a scheme, a name and a port are taken for an address that has no host.
  if (host) return host
  throw new UsageError('URL must be an address, such as https://shop.example.com/hooks')
}
