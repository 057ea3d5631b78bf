import { serviceStores } from '@strongroom/kit/testing/stores'
import { createLog } from '@strongroom/kit/log'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { testTimers, times } from '@strongroom/kit/testing/test-timers'
import { describe, expect, test } from 'vitest'
import { createUsage, MAX_ADDRESSES } from '../../src/limits/usage.ts'
import { createTestService } from '../support/test-service.ts'

const MINUTE = 60

describe.each(serviceStores())('request counts on $name', (store) => {
  const service = createTestService(store)
  const now = () => Math.floor(service.clock.now() / 1000)
  const minuteOf = (seconds: number) => Math.floor(seconds / MINUTE) * MINUTE
  const bucket = (scope: string, id: string, start: number) =>
    service.stores.raw(`RATE#${scope}#${id}`, `TIME#${MINUTE}#${start}`)

  /** Registers a site, exchanges it with a wrong key and validates it, and returns the stored address. */
  async function callFrom(peer: string): Promise<string> {
    const wordpress = service.host.site()
    await service.register(wordpress, {}, peer)
    await service.exchange(wordpress, { temp_key: 'guess' }, peer)
    const { registration_id = '', temp_key, domain } = wordpress.pending ?? {}
    const body = { registration_id, temp_key, site_url: wordpress.url }
    for (const _ of [1, 2]) await service.call('POST', '/validate', { body, peer })
    const name = { domain: domain ?? '', registration_id }
    return (await service.stores.registrations.get(name))?.client_ip ?? ''
  }

  test('of a site are shown against its limits, with the override and without it', async () => {
    const token = service.operator
    const site = await service.connected()
    const path = `/rate-limits/api/${site.site_id}`
    const state = async () => (await service.call('GET', path, { token })).body
    const idle = await state()
    expect(idle).toMatchObject({ scope: 'api', id: site.site_id, override: null, is_slowed: false })
    expect(idle.limits.map(({ used }: { used: number }) => used)).toEqual([0, 0, 0])
    for (const _ of [1, 2, 3]) await service.call('GET', '/site', { token: site.api_key })
    const body = { limits: { minute: 7 } }
    expect((await service.call('PUT', path, { token, body })).status).toBe(200)
    const busy = await state()
    expect(busy).toMatchObject({ override: { minute: 7 } })
    expect(busy.limits).toMatchObject([
      { name: 'minute', window_seconds: 60, limit: 7, used: 3 },
      { name: 'hour', used: 3, limit: idle.limits[1].limit },
      { name: 'day', used: 3 },
    ])
    await service.timers.pass({ seconds: 2 * MINUTE })
    expect((await state()).limits).toMatchObject([{ used: 0 }, { used: 3 }, { used: 3 }])
    const wrong = await service.call('GET', '/rate-limits/nothing/x', { token })
    expect(wrong).toMatchObject({ status: 400, code: 'request.invalid' })
  })

  test('of an address are stored by action when their minute has ended, for 24 hours, of registrations for 5 minutes', async () => {
    const peer = '203.0.113.9'
    const start = minuteOf(now())
    const client_ip = await callFrom(peer)
    await callFrom(peer)
    expect(client_ip).toMatch(/^ip_/)
    expect(await bucket('registration', client_ip, start)).toBeUndefined()
    await service.timers.pass({ seconds: 2 * MINUTE })
    await expect.poll(() => bucket('validation', client_ip, start)).toBeDefined()
    for (const [action, n, lifetime] of [
      ['registration', 2, 300],
      ['key_exchange', 2, 86_400],
      ['validation', 4, 86_400],
    ] as const) {
      expect(await bucket(action, client_ip, start)).toEqual({
        PK: `RATE#${action}#${client_ip}`,
        SK: `TIME#${MINUTE}#${start}`,
        timestamp: start,
        action,
        n,
        ttl: start + MINUTE + lifetime,
      })
    }
  })

  test('of an address include what its limits refused, and do not change the limits', async () => {
    const peer = '203.0.113.10'
    const start = minuteOf(now())
    const body = { site_url: 'https://a.example.org', wp_version: '6.8', plugin_version: '1.0.0' }
    const statuses: number[] = []
    for (let n = 0; n < 12; n++) {
      statuses.push((await service.call('POST', '/register', { body, peer })).status)
    }
    expect(statuses).toEqual([...Array(10).fill(201), 429, 429])
    const { items } = await service.stores.registrations.listByDomain('a.example.org')
    const client_ip = items[0]?.client_ip ?? ''
    await service.timers.pass({ seconds: 2 * MINUTE })
    await expect.poll(() => bucket('registration', client_ip, start)).toMatchObject({ n: 12 })
  })

  test('of an IPv6 address are those of its /64', async () => {
    const start = minuteOf(now())
    const first = await callFrom('2001:db8:1:2::1')
    expect(await callFrom('2001:db8:1:2:ffff::2')).toBe(first)
    expect(await callFrom('2001:db8:1:3::1')).not.toBe(first)
    await service.timers.pass({ seconds: 2 * MINUTE })
    await expect.poll(() => bucket('registration', first, start)).toMatchObject({ n: 2 })
  })

  test('of a site are stored in the minute of its requests, also if no request follows', async () => {
    const site = await service.connected()
    const start = minuteOf(now())
    for (const _ of [1, 2, 3]) await service.signed(site, 'GET', '/site')
    expect(await bucket('api', site.site_id, start)).toMatchObject({ n: 1 })
    await service.timers.pass({ seconds: 2 * MINUTE })
    await expect.poll(() => bucket('api', site.site_id, start)).toMatchObject({ n: 3 })
    await expect.poll(async () => (await service.stores.sites.get(site))?.request_count).toBe(3)
  })

  test('are analysed by operators minute by minute, for a site and for an address', async () => {
    const usage = async (path: string, query = '') =>
      (await service.call('GET', `/rate-limits/${path}/usage${query}`, { token: service.operator }))
        .body
    const peer = '203.0.113.12'
    const site = await service.connected()
    const starts: string[] = []
    let client_ip = ''
    for (const requests of [2, 3]) {
      starts.push(new Date(1000 * minuteOf(now())).toISOString())
      for (let n = 0; n < requests; n++) await service.signed(site, 'GET', '/site')
      client_ip = await callFrom(peer)
      await service.timers.pass({ seconds: 2 * MINUTE })
    }
    const [start, later] = starts
    const ofSite = {
      total: 5,
      items: [
        { start, requests: 2 },
        { start: later, requests: 3 },
      ],
    }
    await expect.poll(() => usage(`api/${site.site_id}`)).toEqual(ofSite)
    const ofAddress = {
      total: 4,
      items: [
        { start, requests: 2 },
        { start: later, requests: 2 },
      ],
    }
    await expect.poll(() => usage(`validation/${client_ip}`)).toEqual(ofAddress)
    const since = later?.replace('00.000Z', '30.000Z')
    expect(await usage(`api/${site.site_id}`, `?from=${since}`)).toMatchObject({ total: 3 })
    expect(await usage(`api/${site.site_id}`, `?to=${start}`)).toMatchObject({ total: 2 })
    expect(await usage('api/site_0123456789abcdef')).toEqual({ total: 0, items: [] })
    const unknown = await service.call('GET', `/rate-limits/agency/x/usage`, {
      token: service.operator,
    })
    expect(unknown.code).toBe('request.invalid')
    service.clock.advance({ hours: 24, minutes: 5 })
    expect(await usage(`api/${site.site_id}`)).toEqual({ total: 0, items: [] })
  })

  test('are written when the server stops', async () => {
    const start = minuteOf(now())
    const client_ip = await callFrom('203.0.113.11')
    expect(await bucket('key_exchange', client_ip, start)).toBeUndefined()
    await service.close()
    expect(await bucket('key_exchange', client_ip, start)).toMatchObject({ n: 1 })
  })
})

describe('request counts in memory', () => {
  function start(count: () => Promise<void>) {
    const clock = testClock()
    const timers = testTimers(clock)
    const logged: string[] = []
    const usage = createUsage({
      clock,
      log: createLog({ level: 'debug', sink: (line) => void logged.push(line) }),
      startTimer: timers.start,
      rates: { count },
      sites: { recordRequests: async () => true },
      authentication: { recordApiKeyUse: async () => true },
    })
    return { usage, timers, logged }
  }

  test('are bounded: those of further addresses are lost, and a log line says how many', async () => {
    let writes = 0
    const { usage, timers, logged } = start(async () => void writes++)
    const flood = () =>
      times(MAX_ADDRESSES + 7, (at) =>
        usage.recordAddress('registration', { client_ip: `ip_${at}` }),
      )
    flood()
    await timers.pass({ seconds: 2 * MINUTE })
    await usage.close()
    expect(writes).toBe(MAX_ADDRESSES)
    expect(logged.join()).toContain('"requests":7')
    expect(logged.join()).not.toContain('ip_')
  })

  test('that could not be written are written a minute later', async () => {
    let writes = 0
    const { usage, timers } = start(async () => {
      writes += 1
      if (writes === 1) throw new Error('The store is unavailable')
    })
    usage.recordAddress('registration', { client_ip: 'ip_one' })
    usage.recordAddress('validation', { client_ip: 'ip_one' })
    await timers.pass({ seconds: MINUTE })
    expect(writes).toBe(1)
    await timers.pass({ seconds: MINUTE })
    expect(writes).toBe(3)
    await usage.close()
    expect(writes).toBe(3)
  })
})
