import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import {
  type ApiResponse,
  type CallApi,
  concurrently,
  createTestService,
} from '../support/test-service.ts'

const admittedAmong = (responses: ApiResponse[]) =>
  responses.filter(({ status }) => status === 200).length

describe.each(serviceStores())('limits on $name', (store) => {
  const service = createTestService(store, { FORM_BRIDGE_API_LIMIT: '30' })
  const look = (token: string, call: CallApi = service.call, peer?: string) =>
    call('GET', '/site', { token, ...(peer && { peer }) })

  test('admit exactly as many requests of a concurrent burst as they allow', async () => {
    const { api_key } = await service.connected()
    const responses: ApiResponse[] = []
    for (const _ of [1, 2]) responses.push(...(await concurrently(40, () => look(api_key))))
    expect(admittedAmong(responses)).toBe(30)
  })

  test('hold across processes that share the store', async () => {
    const { api_key } = await service.connected()
    const elsewhere = await service.another()
    const responses = await concurrently(60, (at) =>
      look(api_key, at % 2 ? service.call : elsewhere),
    )
    expect(admittedAmong(responses)).toBe(30)
  })

  test('never admit more than twice their number within one window length around the end of a window', async () => {
    const { api_key } = await service.connected()
    const toNextMinute = 60_000 - (service.clock.now() % 60_000)
    service.clock.advance({ ms: toNextMinute + 59_900 })
    const before = admittedAmong(await concurrently(40, () => look(api_key)))
    service.clock.advance({ ms: 200 })
    const after = admittedAmong(await concurrently(40, () => look(api_key)))
    expect(before).toBe(30)
    expect(after).toBeLessThanOrEqual(1)
    service.clock.advance({ seconds: 59 })
    const later = admittedAmong(await concurrently(40, () => look(api_key)))
    expect(before + after + later).toBeLessThanOrEqual(60)
  })

  test('hold with clocks that disagree by minutes', async () => {
    const { api_key } = await service.connected()
    const late = await service.another({}, testClock(service.clock.now() - 120_000))
    const early = await service.another({}, testClock(service.clock.now() + 20_000))
    const responses = await concurrently(90, (at) =>
      look(api_key, [service.call, late, early][at % 3]),
    )
    // The process whose clock is ahead may already be in the next window.
    expect(admittedAmong(responses)).toBeLessThanOrEqual(60)
    expect(admittedAmong(responses)).toBeGreaterThanOrEqual(30)
  })

  test('return which limit was reached and when to retry, and admit requests again then', async () => {
    const { api_key } = await service.connected()
    const responses = await concurrently(31, () => look(api_key))
    const refused = responses.find(({ status }) => status === 429)
    expect(refused?.code).toBe('form-bridge.rate_limited')
    expect(refused?.body.error.data).toEqual({ scope: 'api', limit: 'minute' })
    expect(refused?.headers.get('ratelimit-limit')).toBe('30')
    expect(refused?.headers.get('ratelimit-remaining')).toBe('0')
    const seconds = Number(refused?.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    service.clock.advance({ seconds })
    expect((await look(api_key)).status).toBe(200)
  })

  test('return the remaining requests with an admitted request', async () => {
    const { api_key } = await service.connected()
    expect((await look(api_key)).headers.get('ratelimit-remaining')).toBe('29')
  })

  test('of one site do not affect another at the same address', async () => {
    const peer = '203.0.113.40'
    const [busy, quiet] = [await service.connected(), await service.connected()]
    await concurrently(40, () => look(busy.api_key, service.call, peer))
    expect((await look(quiet.api_key, service.call, peer)).status).toBe(200)
  })

  test('of an address that guesses keys do not affect the sites at that address', async () => {
    const peer = '203.0.113.41'
    const site = await service.connected()
    await concurrently(60, () =>
      look(`fb_live_00000000_${'a'.repeat(43)}_00000000`, service.call, peer),
    )
    const response = await service.signed(site, 'GET', '/site', undefined, { peer })
    expect(response.status).toBe(200)
  })

  test('do not block any of forty sites that share one address', async () => {
    const peer = '203.0.113.42'
    const sites = await concurrently(10, () => service.connected())
    const responses = await concurrently(40, (at) =>
      look(sites[at % 10]!.api_key, service.call, peer),
    )
    expect(admittedAmong(responses)).toBe(40)
  })

  test('of update checks, submissions and other requests are separate', async () => {
    const { api_key: token } = await service.connected()
    await concurrently(40, () => look(token))
    const path = '/updates/check?slug=form-bridge&current_version=1.0.0'
    const response = await service.call('GET', path, { token })
    expect(response.code).toBe('form-bridge.plugin_not_found')
  })

  test('can be set by an operator for one site, and apply here immediately and elsewhere within seconds', async () => {
    const { site_id, api_key } = await service.connected()
    const elsewhere = await service.another()
    await look(api_key, elsewhere)
    const path = `/rate-limits/api/${site_id}`
    const limits = { minute: 50 }
    const set = await service.call('PUT', path, { token: service.operator, body: { limits } })
    expect(set.body).toMatchObject({ scope: 'api', id: site_id, limits })
    const here = await concurrently(60, () => look(api_key))
    expect(admittedAmong(here)).toBe(49)
    expect((await look(api_key)).body ?? {}).not.toHaveProperty('site_id')
    service.clock.advance({ minutes: 5 })
    expect(admittedAmong(await concurrently(60, () => look(api_key, elsewhere)))).toBe(50)
    const gone = await service.call('DELETE', path, { token: service.operator })
    expect(gone.status).toBe(204)
    const again = await service.call('DELETE', path, { token: service.operator })
    expect(again.code).toBe('form-bridge.override_not_found')
  })

  test('of registrations are per address, and a join token lifts them', async () => {
    const peer = '203.0.113.43'
    const register = (given = {}) => service.register(service.host.site(), given, peer)
    const responses = await concurrently(35, () => register())
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(30)
    const refused = responses.find(({ status }) => status === 429)
    expect(refused?.body.error.data).toEqual({ scope: 'registration', limit: 'minutes' })
    const { api_key } = await service.agency(50)
    const join_token = await service.joinToken(api_key, { max_uses: 50 })
    expect((await register({ join_token })).status).toBe(201)
    expect((await service.register(service.host.site(), {}, '203.0.113.44')).status).toBe(201)
  })

  test('of registrations count the /56 of an IPv6 address together, at four times the limit', async () => {
    const responses: ApiResponse[] = []
    // Fewer from each /64 than its own limit of 30.
    for (let n = 0; n < 13; n++) {
      const peer = `2001:db8:7:ab${n.toString(16).padStart(2, '0')}::1`
      responses.push(
        ...(await concurrently(10, () => service.register(service.host.site(), {}, peer))),
      )
    }
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(120)
    expect((await service.register(service.host.site(), {}, '2001:db8:8::1')).status).toBe(201)
  })

  test('of registrations are also per domain, and a caller who uses up a share does not lock out others', async () => {
    const wordpress = service.host.site()
    const { api_key } = await service.agency()
    const join_token = await service.joinToken(api_key)
    const [attacker, owner] = ['203.0.113.46', '203.0.113.47']
    const responses = await concurrently(15, () => service.register(wordpress, {}, attacker))
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(10)
    const refused = responses.find(({ status }) => status === 429)
    expect(refused?.body.error.data).toEqual({ scope: 'registration_domain', limit: 'minutes' })
    expect((await service.register(wordpress, {}, owner)).status).toBe(201)
    // Not even if both have the same address, because the owner has an agency join token.
    expect((await service.register(wordpress, { join_token }, attacker)).status).toBe(201)
  })

  test('of wrong keys at the exchange are per address, and do not block a caller there with the right key', async () => {
    const peer = '203.0.113.45'
    const wordpress = service.host.site()
    await service.register(wordpress)
    const responses = await concurrently(40, () =>
      service.exchange(wordpress, { temp_key: 'fb_temp_wrong' }, peer),
    )
    expect(responses.filter(({ code }) => code === 'form-bridge.rate_limited')).toHaveLength(10)
    expect((await service.exchange(wordpress, {}, peer)).status).toBe(200)
  })

  test('store request counts in buckets for analysis, and the time when the site was last seen', async () => {
    const { site_id, api_key } = await service.connected()
    await concurrently(5, () => look(api_key))
    service.clock.advance({ minutes: 1 })
    await look(api_key)
    const now = Math.floor(service.clock.now() / 1000)
    const subject = { scope: 'api', site_id } as const
    const buckets = await service.stores.rates.analyse(subject, 60, { from: now - 180, to: now })
    expect(buckets.reduce((sum, { n }) => sum + n, 0)).toBe(6)
    expect((await service.stores.authentication.findSiteById(site_id))?.request_count).toBe(6)
  })
})
