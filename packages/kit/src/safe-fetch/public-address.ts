/**
 * Which addresses are public: not in the IANA special-purpose registries (iana.org/assignments/
 * iana-ipv4-special-registry and iana-ipv6-special-registry) and no services of clouds in public
 * space. Addresses are compared as numbers by net.BlockList, never as text.
 */
import { BlockList, isIP } from 'node:net'

const SPECIAL_V4 = blockList([
  '0.0.0.0/8', // this host, this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by carriers; Alibaba's metadata service
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local; most clouds' metadata services
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; Oracle's metadata service
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // multicast tunnels
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
  '168.63.129.16/32', // Azure's host services, in public space
])

/**
 * The only IPv6 space that is allocated so far. Everything else is rejected: loopback, unspecified,
 * IPv4-compatible ::/96, translated ::ffff:0:0:0/96, NAT64 64:ff9b::/96 and 64:ff9b:1::/48, discard
 * 100::/64, segment routing 5f00::/16, unique local fc00::/7 (with the metadata services
 * fd00:ec2::254 and fd20:ce::254), link-local fe80::/10, site-local fec0::/10, multicast ff00::/8.
 */
const GLOBAL_V6 = blockList(['2000::/3'])

const SPECIAL_V6 = blockList([
  '2001::/23', // protocol assignments, with Teredo, which carries any IPv4 address
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which carries any IPv4 address
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // 6bone, returned
  '3fff::/20', // documentation
])

/** A socket treats ::ffff:a.b.c.d as a.b.c.d, so the check does too. */
const MAPPED_V4 = blockList(['::ffff:0:0/96'])

/** Whether an address may be dialled for a URL with this host. */
export type AddressPolicy = (address: string, host: string) => boolean

/** Whether the host of a URL, without brackets, is this machine by name or by address. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Also allows loopback, but only where the URL says so: no other name may resolve to it. */
export function allowLoopback(permits: AddressPolicy): AddressPolicy {
  return (address, host) =>
    permits(address, host) || (isLoopbackHost(host) && isLoopbackHost(address))
}

/** Allows public addresses and the given networks (`10.1.0.0/16`, `::1/128`), and no malformed address. */
export function addressPolicy(allow: readonly string[]): (address: string) => boolean {
  const allowedV4 = blockList(allow.filter((cidr) => !cidr.includes(':')))
  const allowedV6 = blockList(allow.filter((cidr) => cidr.includes(':')))

  return (text) => {
    const address = text.replace(/%.*$/s, '')
    const version = isIP(address)
    if (version === 0) return false
    const family = version === 4 ? 'ipv4' : 'ipv6'
    // BlockList checks a mapped address against IPv4 rules itself. It also checks an IPv4 address
    // against IPv6 rules (::/0 matches all of them), so each family has its own lists.
    if (version === 4 || MAPPED_V4.check(address, family)) {
      return allowedV4.check(address, family) || !SPECIAL_V4.check(address, family)
    }
    if (allowedV6.check(address, family)) return true
    return GLOBAL_V6.check(address, family) && !SPECIAL_V6.check(address, family)
  }
}

/** Without `isIP`: its pattern for IPv6 takes 4 ms to compile, at each start. */
function blockList(cidrs: readonly string[]): BlockList {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const [, address = '', prefix = ''] = /^([^/]+)\/(\d{1,3})$/.exec(cidr) ?? []
    try {
      list.addSubnet(address, Number(prefix), address.includes(':') ? 'ipv6' : 'ipv4')
    } catch {
      throw new TypeError(`Invalid network "${cidr}": write it like 10.1.0.0/16 or fd12::/48`)
    }
  }
  return list
}
