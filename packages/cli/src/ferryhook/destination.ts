import { parseUrl } from '@strongroom/kit/parse-url'
import { UsageError } from '../command.ts'

/** The host of an address to deliver to. */
export function destinationHost(url: string): string {
  const host = parseUrl(url)?.host
  if (host !== undefined) return host
  throw new UsageError('URL must be an address, such as https://shop.example.com/hooks')
}
