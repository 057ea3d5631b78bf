import { serviceStores } from '@strongroom/kit/testing/stores'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ApiResponse, concurrently, createTestService } from '../support/test-service.ts'
import { end, type WordPressSite } from '../support/wordpress-host.ts'

const WELL_KNOWN = '/.well-known/form-bridge-verification.txt'

const withCode = (responses: ApiResponse[], code: string) =>
  responses.filter((response) => response.code === `form-bridge.${code}`)

describe.each(serviceStores())('the request budget of a host on $name', (store) => {
  const service = createTestService(store)
  const token = () => service.operator
  beforeAll(() =>
    service.call('DELETE', '/rate-limits/validation_domain/127.0.0.1', { token: token() }),
  )
  beforeEach(() => {
    service.clock.advance({ hours: 3 })
  })

  /** Registers the site from an address and tries to prove it without its key. */
  async function claim(site: WordPressSite, peer?: string): Promise<ApiResponse> {
    const { url, domain, handlers, requests } = site
    // The caller's key is not the site's key.
    const claimed: WordPressSite = { url, domain, handlers, requests }
    await service.register(claimed, {}, peer)
    return service.exchange(claimed, {}, peer)
  }

  test('an owner can connect, however many callers from other addresses have named the host', async () => {
    const wordpress = service.host.site()
    const claims = await concurrently(70, () => claim(wordpress))
    expect(withCode(claims, 'proof_failed')).toHaveLength(70)
    const responses = await Promise.all([service.connected({}, wordpress), claim(wordpress)])
    expect(responses[0]).toMatchObject({ result: 'connected', proved_by: 'rest' })
    service.clock.advance({ minutes: 5 })
    const again = await service.register(wordpress)
    expect(again.status).toBe(201)
    expect((await service.exchange(wordpress)).body).toMatchObject({ result: 'reconnected' })
  })

  test('a host is checked by all methods up to its limit, and then by one method for each call, whatever the path', async () => {
    const sites = Array.from({ length: 30 }, () => service.host.site())
    await Promise.all(sites.map((site) => claim(site)))
    const requests = sites.map((site) => site.requests.length)
    expect(requests.filter((count) => count === 4)).toHaveLength(10)
    expect(requests.filter((count) => count === 1)).toHaveLength(20)
  })

  test('one address can have a host checked up to its share, and does not use up the share of others', async () => {
    const wordpress = service.host.site()
    await service.register(wordpress)
    const { pending, ...claimed } = wordpress
    const attacker = '203.0.113.60'
    await service.register(claimed, {}, attacker)
    const responses = await concurrently(40, () => service.exchange(claimed, {}, attacker))
    expect(withCode(responses, 'proof_failed')).toHaveLength(30)
    const [refused, ...others] = withCode(responses, 'rate_limited')
    expect(others).toHaveLength(9)
    expect(refused?.body.error.data).toEqual({ scope: 'validation_share', limit: 'minute' })
    wordpress.pending = pending
    expect((await service.exchange(wordpress, {}, '203.0.113.61')).status).toBe(200)
  })

  test.each([true, false])(
    'a site without a REST API is proved too if each call tries one method (waiting: %s)',
    async (wait) => {
      const wordpress = service.host.site()
      await concurrently(10, () => claim(wordpress))
      wordpress.requests.length = 0
      for (const path of ['/wp-json/form-bridge/v1/verify', '/?rest_route'])
        wordpress.handlers.set(path, (_, response) => end(response, 401, 'Members only'))
      const { body } = await service.register(wordpress)
      const { content } = body.proofs.well_known
      wordpress.handlers.set(WELL_KNOWN, (_, response) => end(response, 200, content))
      const responses: ApiResponse[] = []
      const exchange = async () => {
        const response = await service.exchange(wordpress, { wait })
        responses.push(response)
        return response.status
      }
      await expect.poll(exchange, { interval: 5, timeout: 10_000 }).toBe(200)
      expect(wordpress.requests).toHaveLength(3)
      expect(responses.at(-1)?.body).toMatchObject({ proved_by: 'well_known' })
      expect(withCode(responses, 'proof_failed')).toHaveLength(wait ? 2 : 0)
    },
  )

  test('concurrent calls that do not wait start one check', async () => {
    const wordpress = service.host.site()
    await service.register(wordpress)
    const held: (() => void)[] = []
    wordpress.handlers.set(
      '/wp-json/form-bridge/v1/verify',
      (_, response) => void held.push(() => end(response, 403, '')),
    )
    const call = () => service.exchange(wordpress, { wait: false, methods: ['rest'] })
    const responses = await concurrently(8, call)
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 202))
    await expect.poll(() => held.length).toBe(1)
    for (const response of held) response()
    await expect.poll(async () => (await call()).code).toBe('form-bridge.proof_failed')
    expect(wordpress.requests).toHaveLength(1)
  })

  test('after the last method, the owner gets the result of each one', async () => {
    const wordpress = service.host.site()
    await concurrently(10, () => claim(wordpress))
    await service.register(wordpress)
    wordpress.handlers.set('/wp-json/form-bridge/v1/verify', (_, response) =>
      end(response, 403, ''),
    )
    const methods = ['rest', 'well_known']
    const found: string[][] = []
    for (const _ of [1, 2, 3]) {
      const response = await service.exchange(wordpress, { methods })
      const attempts: { method: string }[] = response.body.error.data.attempts
      found.push(attempts.map(({ method }) => method))
    }
    expect(found).toEqual([['rest'], ['rest', 'well_known'], ['rest']])
  })

  test('validations are refused until there is budget again, with the time to retry', async () => {
    const wordpress = service.host.site()
    await concurrently(10, () => claim(wordpress))
    await service.register(wordpress)
    const { registration_id, temp_key } = wordpress.pending ?? {}
    const body = { registration_id, temp_key, site_url: wordpress.url }
    const check = () => service.call('POST', '/validate', { body })
    wordpress.requests.length = 0
    const refused = await check()
    expect(refused.body.error.data).toEqual({ scope: 'validation_domain', limit: 'minute' })
    expect(wordpress.requests).toEqual([])
    const events = '/security-events?type=rate_limit&limit=1'
    const noted = await service.call('GET', events, { token: token() })
    expect(noted.body.items).toMatchObject([{ details: { reason: 'check' } }])
    service.clock.advance({ seconds: Number(refused.headers.get('retry-after')) })
    expect((await check()).status).toBe(200)
  })
})
