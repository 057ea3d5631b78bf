import { serviceStores } from '@strongroom/kit/testing/stores'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, atOnce, createTestService } from '../support/test-service.ts'
import { end, type WordPressSite } from '../support/wordpress-host.ts'

const WELL_KNOWN = '/.well-known/form-bridge-verification.txt'

const withCode = (answers: Answer[], code: string) =>
  answers.filter((answer) => answer.code === `form-bridge.${code}`)

describe.each(serviceStores())('the request budget of a host on $name', (store) => {
  const service = createTestService(store)
  const token = () => service.operator
  beforeAll(() =>
    service.ask('DELETE', '/rate-limits/validation_domain/127.0.0.1', { token: token() }),
  )
  beforeEach(() => {
    service.clock.advance({ hours: 3 })
  })

  /** Somebody says that the site is his, from an address, and has it asked for the proof. */
  async function claim(site: WordPressSite, peer?: string): Promise<Answer> {
    const { url, domain, answers, asked } = site
    // What he holds is not what the site holds.
    const claimed: WordPressSite = { url, domain, answers, asked }
    await service.register(claimed, {}, peer)
    return service.exchange(claimed, {}, peer)
  }

  test('an owner can connect, however many callers from other addresses have named the host', async () => {
    const wordpress = service.host.site()
    const claims = await atOnce(70, () => claim(wordpress))
    expect(withCode(claims, 'proof_failed')).toHaveLength(70)
    const answers = await Promise.all([service.connected({}, wordpress), claim(wordpress)])
    expect(answers[0]).toMatchObject({ result: 'connected', proved_by: 'rest' })
    service.clock.advance({ minutes: 5 })
    const again = await service.register(wordpress)
    expect(again.status).toBe(201)
    expect((await service.exchange(wordpress)).body).toMatchObject({ result: 'reconnected' })
  })

  test('a host is checked by all methods up to its limit, and then by one method for each call, whatever the path', async () => {
    const sites = Array.from({ length: 30 }, () => service.host.site())
    await Promise.all(sites.map((site) => claim(site)))
    const requests = sites.map(({ asked }) => asked.length)
    expect(requests.filter((count) => count === 4)).toHaveLength(10)
    expect(requests.filter((count) => count === 1)).toHaveLength(20)
  })

  test('one address can have a host checked up to its share, and does not use up the share of others', async () => {
    const wordpress = service.host.site()
    await service.register(wordpress)
    const { pending, ...claimed } = wordpress
    const stranger = '203.0.113.60'
    await service.register(claimed, {}, stranger)
    const answers = await atOnce(40, () => service.exchange(claimed, {}, stranger))
    expect(withCode(answers, 'proof_failed')).toHaveLength(30)
    const [refused, ...others] = withCode(answers, 'rate_limited')
    expect(others).toHaveLength(9)
    expect(refused?.body.error.data).toEqual({ scope: 'validation_share', limit: 'minute' })
    wordpress.pending = pending
    expect((await service.exchange(wordpress, {}, '203.0.113.61')).status).toBe(200)
  })

  test.each([true, false])(
    'a site without a REST API is proved too if each call tries one method (waiting: %s)',
    async (wait) => {
      const wordpress = service.host.site()
      await atOnce(10, () => claim(wordpress))
      wordpress.asked.length = 0
      for (const path of ['/wp-json/form-bridge/v1/verify', '/?rest_route'])
        wordpress.answers.set(path, (_, response) => end(response, 401, 'Members only'))
      const { body } = await service.register(wordpress)
      const { content } = body.proofs.well_known
      wordpress.answers.set(WELL_KNOWN, (_, response) => end(response, 200, content))
      const answers: Answer[] = []
      const exchange = async () => {
        const answer = await service.exchange(wordpress, { wait })
        answers.push(answer)
        return answer.status
      }
      await expect.poll(exchange, { interval: 5, timeout: 10_000 }).toBe(200)
      expect(wordpress.asked).toHaveLength(3)
      expect(answers.at(-1)?.body).toMatchObject({ proved_by: 'well_known' })
      expect(withCode(answers, 'proof_failed')).toHaveLength(wait ? 2 : 0)
    },
  )

  test('concurrent calls that do not wait start one check', async () => {
    const wordpress = service.host.site()
    await service.register(wordpress)
    const held: (() => void)[] = []
    wordpress.answers.set(
      '/wp-json/form-bridge/v1/verify',
      (_, response) => void held.push(() => end(response, 403, '')),
    )
    const ask = () => service.exchange(wordpress, { wait: false, methods: ['rest'] })
    const answers = await atOnce(8, ask)
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202))
    await expect.poll(() => held.length).toBe(1)
    for (const answer of held) answer()
    await expect.poll(async () => (await ask()).code).toBe('form-bridge.proof_failed')
    expect(wordpress.asked).toHaveLength(1)
  })

  test('after the last method, the owner gets the result of each one', async () => {
    const wordpress = service.host.site()
    await atOnce(10, () => claim(wordpress))
    await service.register(wordpress)
    wordpress.answers.set('/wp-json/form-bridge/v1/verify', (_, response) => end(response, 403, ''))
    const methods = ['rest', 'well_known']
    const found: string[][] = []
    for (const _ of [1, 2, 3]) {
      const answer = await service.exchange(wordpress, { methods })
      const attempts: { method: string }[] = answer.body.error.data.attempts
      found.push(attempts.map(({ method }) => method))
    }
    expect(found).toEqual([['rest'], ['rest', 'well_known'], ['rest']])
  })

  test('validations are refused until there is budget again, with the time to retry', async () => {
    const wordpress = service.host.site()
    await atOnce(10, () => claim(wordpress))
    await service.register(wordpress)
    const { registration_id, temp_key } = wordpress.pending ?? {}
    const body = { registration_id, temp_key, site_url: wordpress.url }
    const check = () => service.ask('POST', '/validate', { body })
    wordpress.asked.length = 0
    const refused = await check()
    expect(refused.body.error.data).toEqual({ scope: 'validation_domain', limit: 'minute' })
    expect(wordpress.asked).toEqual([])
    const events = '/security-events?type=rate_limit&limit=1'
    const noted = await service.ask('GET', events, { token: token() })
    expect(noted.body.items).toMatchObject([{ details: { reason: 'check' } }])
    service.clock.advance({ seconds: Number(refused.headers.get('retry-after')) })
    expect((await check()).status).toBe(200)
  })
})
