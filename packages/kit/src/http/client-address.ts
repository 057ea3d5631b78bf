/**
 * The address of the client. `X-Forwarded-For` is whatever the client wrote unless a trusted proxy
 * added to it, so it counts only from the proxies that the operator named.
 */
import { BlockList, isIP } from 'node:net'
import type { Context } from 'hono'
import {
  convertIPv4BinaryToString,
  convertIPv4MappedIPv6ToIPv4,
  convertIPv6BinaryToString,
  convertIPv6ToBinary,
  isIPv4MappedIPv6,
} from 'hono/utils/ipaddr'
import type { AppEnv } from './env.ts'

/** The client's IP address in canonical form; undefined where it has none, as on a unix socket. */
export function clientAddress<E extends AppEnv>(c: Context<E>): string | undefined {
  return c.get('call').clientAddress
}

/** The networks of the client that limits count, narrowest first. */
export function clientNetworks<E extends AppEnv>(c: Context<E>): CountedNetworks {
  return networksOf(clientAddress(c))
}

/** A network that a limit counts, and how many times the limit of one client it allows. */
export interface CountedNetwork {
  network: string
  factor: number
}

export type CountedNetworks = readonly [CountedNetwork, ...CountedNetwork[]]

/**
 * Not single addresses: the owner of one has all of its network and could use a new one for each request.
 * Customers have a /64, a /56 or a /48, and one /48 may have many customers.
 */
const IPV6_PREFIXES = [
  { bits: 64, factor: 1 },
  { bits: 56, factor: 4 },
  { bits: 48, factor: 16 },
] as const

/** The networks of an address that limits count, narrowest first: `unknown` if there is no address. */
export function networksOf(address: string | undefined): CountedNetworks {
  if (address === undefined || isIP(address) !== 6) {
    return [{ network: address ?? 'unknown', factor: 1 }]
  }
  const binary = convertIPv6ToBinary(address)
  const [narrowest, ...wider] = IPV6_PREFIXES.map(({ bits, factor }) => {
    const hostBits = BigInt(128 - bits)
    const network = convertIPv6BinaryToString((binary >> hostBits) << hostBits)
    return { network: `${network}/${bits}`, factor }
  })
  return [narrowest as CountedNetwork, ...wider]
}

/**
 * The canonical text of an address as sockets and proxies write it (`1.2.3.4`, `1.2.3.4:80`,
 * `[2001:db8::1]:80`, `::ffff:1.2.3.4`). Comparing canonical texts compares addresses.
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

/** The number of proxies in front of the server, or their networks. */
export type TrustedProxies = { readonly hops: number } | { readonly networks: readonly string[] }

export const noProxies: TrustedProxies = { hops: 0 }

export function parseTrustedProxies(text: string): TrustedProxies | undefined {
  if (/^\d{1,2}$/.test(text)) return { hops: Number(text) }
  const networks = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  return networks.length > 0 && networks.every(isNetwork) ? { networks } : undefined
}

export function formatTrustedProxies(trusted: TrustedProxies): string {
  return 'hops' in trusted ? String(trusted.hops) : trusted.networks.join(',')
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || address.includes('%') || more.length > 0) return false
  if (bits === undefined) return true
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
}

export interface ProxyTrust {
  /** Whether the peer of the connection is a trusted proxy. */
  trustsPeer(peer: string | undefined): boolean
  /** The client's address: the nearest one that is not a trusted proxy. */
  clientAddress(peer: string | undefined, forwardedFor: string | undefined): string | undefined
}

export function createProxyTrust(trusted: TrustedProxies): ProxyTrust {
  return 'hops' in trusted ? trustHops(trusted.hops) : trustNetworks(trusted.networks)
}

function trustHops(hops: number): ProxyTrust {
  return {
    trustsPeer: () => hops > 0,
    clientAddress(peer, forwardedFor) {
      const self = peer === undefined ? undefined : parseAddress(peer)
      if (hops === 0) return self
      const forwarded = (forwardedFor ?? '').split(',')
      // A shorter chain did not pass through all proxies: trust none of it.
      const claimed = forwarded[forwarded.length - hops]
      return (claimed === undefined ? undefined : parseAddress(claimed)) ?? self
    },
  }
}

function trustNetworks(networks: readonly string[]): ProxyTrust {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  const trusts = (address: string | undefined): address is string =>
    address !== undefined && list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')

  return {
    trustsPeer: (peer) => trusts(peer === undefined ? undefined : parseAddress(peer)),
    clientAddress(peer, forwardedFor) {
      let client = peer === undefined ? undefined : parseAddress(peer)
      const forwarded = (forwardedFor ?? '').split(',')
      while (trusts(client) && forwarded.length > 0) {
        const next = parseAddress(forwarded.pop() ?? '')
        // Not an address: the proxy that forwarded it is the last trustworthy one.
        if (next === undefined) break
        client = next
      }
      return client
    },
  }
}
