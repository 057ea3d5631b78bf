import { describe, expect, test } from 'vitest'
import { createOwnTargets } from '../src/safe-fetch/own-addresses.ts'
import { testClock } from '../src/testing/test-clock.ts'
import { serveHttp } from './loopback-server.ts'
import { failure, loopbackFetch } from './safe-fetch-client.ts'

const OWN = 'Address is one of this server: choose another destination'

describe('a server recognises itself', () => {
  const names: Record<string, string[]> = { 'hooks.example.com': ['198.51.100.7', '2001:db8::7'] }
  const resolve = async (name: string) => names[name] ?? Promise.reject(new Error('unknown'))
  const origins = ['https://hooks.example.com', 'http://[2001:db8::9]:8080', 'https://gone.example']

  test('by the names in its URLs', () => {
    const own = createOwnTargets({ origins, listeners: [] }, { resolve })
    expect(own.isOwnName('hooks.example.com', 443)).toBe(true)
    expect(own.isOwnName('[2001:db8::9]', 8080)).toBe(true)
    expect(own.isOwnName('hooks.example.com', 8443)).toBe(false)
    expect(own.isOwnName('shop.example.com', 443)).toBe(false)
  })

  test.each([
    ['198.51.100.7', 443, true],
    ['::ffff:198.51.100.7', 443, true],
    ['2001:DB8::7', 443, true],
    ['2001:db8::9', 8080, true],
    ['198.51.100.7', 8443, false],
    ['198.51.100.8', 443, false],
    ['127.0.0.1', 4280, true],
    ['127.0.0.2', 4280, false],
    ['10.0.0.5', 9000, true],
    ['127.0.0.1', 9000, true],
    ['::1', 9000, true],
    ['10.0.0.6', 9000, false],
  ])('by the address %s and port %i: %s', async (address, port, expected) => {
    const listeners = [
      { host: '127.0.0.1', port: 4280 },
      { host: '0.0.0.0', port: 9000 },
    ]
    const localAddresses = () => ['10.0.0.5']
    const own = createOwnTargets({ origins, listeners }, { resolve, localAddresses })
    expect(await own.isOwnAddress(address, port)).toBe(expected)
  })

  test('by the name, the address and the port of its store and its KMS', async () => {
    const endpoints = ['http://localhost:8000', 'https://hooks.example.com:4100']
    const own = createOwnTargets(
      { origins: [], listeners: [], endpoints, isShared: true },
      { resolve: async (name) => (name === 'localhost' ? ['127.0.0.1', '::1'] : resolve(name)) },
    )
    expect(own.isOwnName('localhost', 8000)).toBe(true)
    expect(own.isOwnPort(8000)).toBe(true)
    expect(await own.isOwnAddress('127.0.0.1', 8000)).toBe(true)
    expect(await own.isOwnAddress('198.51.100.7', 4100)).toBe(true)
    expect(await own.isOwnAddress('198.51.100.7', 443)).toBe(false)
  })

  test('by names only, if other sites share its address', async () => {
    const listeners = [{ host: '127.0.0.1', port: 4280 }]
    const own = createOwnTargets({ origins, listeners, isShared: true }, { resolve })
    expect(await own.isOwnAddress('198.51.100.7', 443)).toBe(false)
    expect(await own.isOwnAddress('127.0.0.1', 4280)).toBe(true)
    expect(own.isOwnName('hooks.example.com', 443)).toBe(true)
  })

  test('again after its DNS records change', async () => {
    const clock = testClock()
    let address = '198.51.100.7'
    const own = createOwnTargets(
      { origins, listeners: [] },
      { resolve: async () => [address], clock },
    )
    expect(await own.isOwnAddress('198.51.100.8', 443)).toBe(false)
    address = '198.51.100.8'
    clock.advance({ minutes: 1 })
    expect(await own.isOwnAddress('198.51.100.8', 443)).toBe(true)
  })
})

test('a request to the server itself is refused, by name and after resolution', async () => {
  let requests = 0
  const port = await serveHttp((_, response) => {
    requests += 1
    response.end()
  })
  const own = { origins: ['http://self.example.com:8080'], listeners: [{ host: '::', port }] }
  const safeFetch = loopbackFetch({ own })
  expect(() => safeFetch.check('http://self.example.com:8080/in')).toThrow(OWN)
  const refused = await failure(safeFetch(`http://alias.example.com:${port}/`))
  expect([refused.reason, refused.message]).toEqual(['blocked_address', OWN])
  expect(requests).toBe(0)
  const other = await serveHttp((_, response) => response.end())
  expect((await safeFetch(`http://alias.example.com:${other}/`)).status).toBe(200)
})
