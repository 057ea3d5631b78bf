/** IP addresses in one spelling each, so that comparing text compares addresses. */
import { isIP } from 'node:net'
import {
  convertIPv4BinaryToString,
  convertIPv4MappedIPv6ToIPv4,
  convertIPv6BinaryToString,
  convertIPv6ToBinary,
  isIPv4MappedIPv6,
} from 'hono/utils/ipaddr'

/**
 * The canonical text of an address as sockets and proxies write it (`1.2.3.4`, `1.2.3.4:80`,
 * `[2001:db8::1]:80`, `::ffff:1.2.3.4`), or undefined.
 */
export function parseAddress(text: string): string | undefined {
  const trimmed = text.trim()
  const bare =
    /^\[([^\]]+)\](?::\d{1,5})?$/.exec(trimmed)?.[1] ??
    /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(trimmed)?.[1] ??
    trimmed
  // The zone of a link-local address names an interface of this machine, not the client.
  const address = bare.replace(/%.*$/, '')
  switch (isIP(address)) {
    case 4:
      return address
    case 6: {
      const binary = convertIPv6ToBinary(address)
      // A socket that listens on both families shows IPv4 clients in this form.
      if (isIPv4MappedIPv6(binary))
        return convertIPv4BinaryToString(convertIPv4MappedIPv6ToIPv4(binary))
      return convertIPv6BinaryToString(binary)
    }
    default:
      return undefined
  }
}

/**
 * What one customer has: an IPv4 address, or the /64 of an IPv6 address, because whoever has one
 * address of a /64 has all of them and could use a new one for each request.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const network = (convertIPv6ToBinary(address) >> 64n) << 64n
  return `${convertIPv6BinaryToString(network)}/64`
}
