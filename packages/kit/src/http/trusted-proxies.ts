/**
 * Which proxies in front of the server are believed. Nothing is by default: `X-Forwarded-For` is
 * whatever the client wrote, until a proxy that the operator named has added to it.
 */
import { BlockList, isIP } from 'node:net'
import { parseAddress } from './ip.ts'

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
  /** Whether the machine at the other end of the connection is a trusted proxy. */
  trustsPeer(peer: string | undefined): boolean
  /** The client's address: the first one, seen from the server, that no trusted proxy vouches for. */
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
      // A chain shorter than promised did not come through all the proxies: believe none of it.
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
        // Unreadable: the trusted proxy that passed it on is the last address known to be true.
        if (next === undefined) break
        client = next
      }
      return client
    },
  }
}
