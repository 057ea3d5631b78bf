import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { concurrently, createTestService } from '../support/test-service.ts'

describe.each(serviceStores())('abuse on $name', (store) => {
  const service = createTestService(store, { FORM_BRIDGE_API_LIMIT: '8' })
  const patterns = async (type: string) =>
    (
      await service.call('GET', `/abuse-patterns?type=${type}&limit=100`, {
        token: service.operator,
      })
    ).body.items
  const invalid = (peer: string) =>
    service.register({ ...service.host.site(), url: 'http://10.0.0.1/' }, {}, peer)

  test('by invalid domains is detected, escalates each time, and leads to a temporary block', async () => {
    const peer = '192.0.2.10'
    const severities: string[] = []
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 10; n++) await invalid(peer)
      severities.push((await patterns('invalid_domains'))[0].severity)
    }
    expect(severities).toEqual(['low', 'medium', 'high'])
    const wordpress = service.host.site()
    const blocked = await service.register(wordpress, {}, peer)
    expect(blocked).toMatchObject({ status: 403, code: 'form-bridge.blocked' })
    expect(blocked.headers.get('retry-after')).toBe('3600')
    expect((await service.register(wordpress, {}, '192.0.2.11')).status).toBe(201)
    const guess = await service.exchange(wordpress, { temp_key: 'guess' }, peer)
    expect(guess.code).toBe('form-bridge.blocked')
    expect((await service.exchange(wordpress, {}, peer)).status).toBe(200)
    const join_token = await service.joinToken((await service.agency()).api_key)
    expect((await service.register(service.host.site(), { join_token }, peer)).status).toBe(201)
    service.clock.advance({ hours: 1 })
    expect((await service.register(wordpress, {}, peer)).status).toBe(201)
  })

  test('is cleared by an operator, and the block ends', async () => {
    const peer = '192.0.2.12'
    for (let n = 0; n < 30; n++) await invalid(peer)
    const wordpress = service.host.site()
    expect((await service.register(wordpress, {}, peer)).code).toBe('form-bridge.blocked')
    const [{ identifier }] = await patterns('invalid_domains')
    const path = `/abuse-patterns/invalid_domains/${identifier}`
    expect((await service.call('DELETE', path, { token: service.operator })).status).toBe(204)
    expect((await service.register(wordpress, {}, peer)).status).toBe(201)
    const again = await service.call('DELETE', path, { token: service.operator })
    expect(again).toMatchObject({ status: 404, code: 'form-bridge.pattern_not_found' })
  })

  test('by registrations is detected, and reduces the limit of the address to a quarter', async () => {
    const peer = '192.0.2.20'
    const burst = () => concurrently(50, () => service.register(service.host.site(), {}, peer))
    await burst()
    expect((await patterns('registration_spam'))[0].severity).toBe('low')
    service.clock.advance({ minutes: 10 })
    await burst()
    expect((await patterns('registration_spam'))[0].severity).toBe('medium')
    service.clock.advance({ minutes: 10 })
    const admitted = (await burst()).filter(({ status }) => status === 201)
    expect(admitted).toHaveLength(8)
  })

  test('by failed proofs of many domains is detected, and repeated failures of one domain are not', async () => {
    const patient = '192.0.2.30'
    const wordpress = service.host.site()
    await service.register(wordpress)
    for (let n = 0; n < 10; n++) await service.exchange(wordpress, { methods: ['dns'] }, patient)
    const before = (await patterns('invalid_domains')).length
    for (let n = 0; n < 10; n++) {
      const other = service.host.site()
      await service.register(other)
      await service.exchange(other, { methods: ['dns'] }, patient)
    }
    expect((await patterns('invalid_domains')).length).toBe(before + 1)
  })

  test('of a site that ignores its limits slows that site down and no other', async () => {
    const [site, other] = [await service.connected(), await service.connected()]
    const look = (token: string) => service.call('GET', '/site', { token })
    const burst = (token: string, count = 70) => concurrently(count, () => look(token))
    await burst(site.api_key)
    await burst(site.api_key)
    const found = await patterns('api_abuse')
    expect(found[0]).toMatchObject({ identifier: site.site_id, severity: 'medium' })
    service.clock.advance({ minutes: 5 })
    const admitted = (responses: { status: number }[]) =>
      responses.filter(({ status }) => status === 200)
    expect(admitted(await burst(site.api_key, 12))).toHaveLength(2)
    expect(admitted(await burst(other.api_key, 20))).toHaveLength(8)
    service.clock.advance({ hours: 1, minutes: 5 })
    expect(admitted(await burst(site.api_key, 20))).toHaveLength(8)
  })

  test('by guessed keys is detected by address, and sites at that address keep working', async () => {
    const peer = '192.0.2.40'
    await concurrently(50, () => service.call('GET', '/site', { token: 'guess', peer }))
    const [found] = await patterns('api_abuse')
    expect(found.identifier).toMatch(/^ip_/)
    const site = await service.connected()
    expect((await service.signed(site, 'GET', '/site', undefined, { peer })).status).toBe(200)
  })

  test('does not fill the store, because identical events are stored once a minute with a count', async () => {
    const peer = '192.0.2.50'
    const guess = () => service.call('GET', '/site', { token: 'guess', peer })
    await concurrently(30, guess)
    service.clock.advance({ minutes: 1 })
    await guess()
    const { body } = await service.call('GET', '/security-events?type=auth_failure&limit=100', {
      token: service.operator,
    })
    const client_ip = body.items[0].client_ip
    const own = body.items.filter((item: { client_ip: string }) => item.client_ip === client_ip)
    expect(own).toHaveLength(2)
    expect(own[0].details).toMatchObject({ repeated: 29 })
  })

  test('is not detected because of a wrong clock', async () => {
    const site = await service.connected()
    const before = (await patterns('api_abuse')).length
    const timestamp = Math.floor(service.clock.now() / 1000) - 4000
    await concurrently(60, () =>
      service.signed(site, 'GET', '/site', undefined, { timestamp, peer: '192.0.2.60' }),
    )
    expect((await patterns('api_abuse')).length).toBe(before)
  })
})
