import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createApp } from '../src/http/app.ts'
import { clientAddress, clientNetworks, type TrustedProxies } from '../src/http/client-address.ts'
import { silentLog } from '../src/log.ts'
import { createMetrics } from '../src/metrics.ts'

const metrics = createMetrics()

/** The client's address and network as the server sees them. */
async function client(
  trustedProxies: TrustedProxies | undefined,
  peer: string | undefined,
  forwarded?: string,
) {
  const app = createApp({
    log: silentLog,
    metrics,
    peerAddress: () => peer,
    ...(trustedProxies ? { trustedProxies } : {}),
  })
  app.get('/', (c) => c.json([clientAddress(c) ?? null, clientNetworks(c)[0].network]))
  const headers: Record<string, string> =
    forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  return (await (await app.request('/', { headers })).json()) as [string | null, string]
}

const networks = { networks: ['10.0.0.0/8', 'fd00::/8', '127.0.0.1'] }

describe('the address of a client', () => {
  test('is the address of the connection when no proxy is trusted', async () => {
    expect((await client(undefined, '192.0.2.1', '198.51.100.7'))[0]).toBe('192.0.2.1')
    expect((await client({ hops: 0 }, '192.0.2.1', '198.51.100.7'))[0]).toBe('192.0.2.1')
  })

  test('is taken from the position that the number of proxies determines', async () => {
    expect((await client({ hops: 1 }, '10.0.0.1', 'forged, 198.51.100.7'))[0]).toBe('198.51.100.7')
    expect((await client({ hops: 2 }, '10.0.0.1', 'forged, 198.51.100.7, 10.0.0.2'))[0]).toBe(
      '198.51.100.7',
    )
  })

  test('is the address of the connection when the chain is too short or malformed', async () => {
    expect((await client({ hops: 2 }, '192.0.2.1', '198.51.100.7'))[0]).toBe('192.0.2.1')
    expect((await client({ hops: 1 }, '192.0.2.1'))[0]).toBe('192.0.2.1')
    expect((await client({ hops: 1 }, '192.0.2.1', 'unknown'))[0]).toBe('192.0.2.1')
  })

  test('is the nearest address outside the trusted networks', async () => {
    expect((await client(networks, '10.0.0.1', 'forged, 198.51.100.7, fd00::5, 10.2.3.4'))[0]).toBe(
      '198.51.100.7',
    )
    expect((await client(networks, '::ffff:127.0.0.1', '198.51.100.7'))[0]).toBe('198.51.100.7')
    expect((await client(networks, '192.0.2.1', '198.51.100.7'))[0]).toBe('192.0.2.1')
    expect((await client(networks, '10.0.0.1', '10.0.0.9'))[0]).toBe('10.0.0.9')
    expect((await client(networks, '10.0.0.1', '198.51.100.7, junk'))[0]).toBe('10.0.0.1')
    expect((await client(networks, '10.0.0.1'))[0]).toBe('10.0.0.1')
  })

  test('is known through a unix socket only if the number of proxies is configured', async () => {
    expect(await client({ hops: 1 }, undefined, '198.51.100.7')).toEqual([
      '198.51.100.7',
      '198.51.100.7',
    ])
    expect(await client(networks, undefined, '198.51.100.7')).toEqual([null, 'unknown'])
  })

  test.each([
    ['198.51.100.7:4711', '198.51.100.7'],
    ['[2001:DB8:0:0::1]:4711', '2001:db8::1'],
    ['2001:db8::0001', '2001:db8::1'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['::FFFF:C633:6407', '198.51.100.7'],
    ['fe80::1%eth0', 'fe80::1'],
  ])('has one canonical form: %s', async (written, address) => {
    expect((await client({ hops: 1 }, '192.0.2.1', written))[0]).toBe(address)
  })

  test('is never one that a client behind the trusted proxies wrote itself', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('10.0.0.9', 'x', ''))),
        async (forged) => {
          const chain = [...forged, '198.51.100.7', '10.0.0.2'].join(', ')
          expect((await client(networks, '10.0.0.1', chain))[0]).toBe('198.51.100.7')
          expect((await client({ hops: 2 }, '10.0.0.1', chain))[0]).toBe('198.51.100.7')
        },
      ),
      { numRuns: 50 },
    )
  })
})

describe('the network of a client', () => {
  test('is the address itself for IPv4 and the /64 for IPv6', async () => {
    expect((await client(undefined, '192.0.2.1'))[1]).toBe('192.0.2.1')
    expect((await client(undefined, '2001:db8:1:2:aaaa:bbbb:cccc:dddd'))[1]).toBe(
      '2001:db8:1:2::/64',
    )
    expect((await client(undefined, '2001:db8:1:2::9'))[1]).toBe('2001:db8:1:2::/64')
    expect((await client(undefined, '::1'))[1]).toBe('::/64')
  })
})
