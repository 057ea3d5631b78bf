import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { isStagingHost } from '../../src/sites/address.ts'
import { concurrently, type ConnectedSite, createTestService } from '../support/test-service.ts'

describe.each(serviceStores())('an agency on $name', (store) => {
  const service = createTestService(store)
  const facts = async (token: string) => (await service.call('GET', '/agency', { token })).body

  test('admits sites with a join token and lists them', async () => {
    const { agency_id, api_key } = await service.agency()
    const join_token = await service.joinToken(api_key)
    const site = await service.connected({ join_token })
    expect((await service.signed(site, 'GET', '/site')).body.agency_id).toBe(agency_id)
    expect(await facts(api_key)).toMatchObject({ agency_id, current_sites: 1, max_sites: 5 })
    const { body } = await service.call('GET', '/agency/sites', { token: api_key })
    expect(body.items).toMatchObject([
      { site_id: site.site_id, role: 'owner', outside_limit: false },
    ])
    const one = await service.call('GET', `/agency/sites/${site.site_id}`, { token: api_key })
    expect(one.body).toMatchObject({ domain: site.domain, agencies: [agency_id] })
  })

  test('accepts exactly as many of twenty concurrent sites as its limit allows', async () => {
    const { api_key } = await service.agency(5)
    const join_token = await service.joinToken(api_key, { max_uses: 20 })
    const sites = Array.from({ length: 20 }, () => service.host.site())
    for (const wordpress of sites) await service.register(wordpress, { join_token })
    const responses = await Promise.all(sites.map((wordpress) => service.exchange(wordpress)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(5)
    const others = new Set(responses.map(({ code }) => code).filter(Boolean))
    expect(others).toEqual(new Set(['form-bridge.agency_full']))
    expect(await facts(api_key)).toMatchObject({ current_sites: 5 })
  })

  test('has a join token that admits exactly as many sites as its limit', async () => {
    const { api_key } = await service.agency(50)
    const join_token = await service.joinToken(api_key, { max_uses: 3 })
    const sites = Array.from({ length: 8 }, () => service.host.site())
    for (const wordpress of sites) await service.register(wordpress, { join_token })
    const responses = await Promise.all(sites.map((wordpress) => service.exchange(wordpress)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(3)
    const late = await service.register(service.host.site(), { join_token })
    expect(late).toMatchObject({ status: 403, code: 'form-bridge.join_token_invalid' })
  })

  test('cannot be joined with its id, or with a token that is invented, changed, revoked or expired', async () => {
    const { agency_id, api_key } = await service.agency()
    const join_token = await service.joinToken(api_key, { expires_in: 3600 })
    const join = (token: string) => service.register(service.host.site(), { join_token: token })
    const madeUp = [agency_id, 'x', `${join_token}0`, join_token.replace(/.$/, '~')]
    for (const token of madeUp)
      expect((await join(token)).code).toBe('form-bridge.join_token_invalid')
    const wordpress = service.host.site()
    const body = { site_url: wordpress.url, wp_version: '6.8', plugin_version: '1.0.0', agency_id }
    const trusted = await service.call('POST', '/register', { body })
    expect(trusted).toMatchObject({ status: 400, code: 'request.invalid' })
    const { items } = (await service.call('GET', '/agency/join-tokens', { token: api_key })).body
    const path = `/agency/join-tokens/${items[0].id}`
    expect((await service.call('DELETE', path, { token: api_key })).status).toBe(204)
    expect((await join(join_token)).code).toBe('form-bridge.join_token_invalid')
    const gone = await service.call('DELETE', path, { token: api_key })
    expect(gone).toMatchObject({ status: 404, code: 'form-bridge.join_token_not_found' })
    const second = await service.joinToken(api_key, { expires_in: 3600 })
    service.clock.advance({ hours: 1 })
    expect((await join(second)).code).toBe('form-bridge.join_token_invalid')
  })

  test('accepts an already connected site once, when it reconnects with a join token', async () => {
    const { api_key } = await service.agency(1)
    const join_token = await service.joinToken(api_key, { max_uses: 5 })
    const [site, late] = [await service.connected(), await service.connected()]
    const again = async ({ wordpress }: ConnectedSite) => {
      await service.register(wordpress, { join_token })
      return service.exchange(wordpress)
    }
    const joined = { result: 'reconnected', site_id: site.site_id, confirmation_needed: false }
    for (const _ of [1, 2]) expect((await again(site)).body).toMatchObject(joined)
    expect(await facts(api_key)).toMatchObject({ current_sites: 1 })
    expect((await again(late)).code).toBe('form-bridge.agency_full')
    expect((await service.signed(late, 'GET', '/site')).status).toBe(200)
  })

  test('does not admit a site that must be confirmed, and cannot confirm it', async () => {
    const { api_key } = await service.agency()
    const join_token = await service.joinToken(api_key, { max_uses: 5 })
    const site = await service.connected()
    const body = { url: 'https://collector.example/forms' }
    const path = `/sites/${site.site_id}/destination`
    expect((await service.call('PUT', path, { token: service.operator, body })).status).toBe(200)
    const known: { api_key?: string } = {}
    for (const _ of [1, 2]) {
      await service.register(site.wordpress, { join_token })
      const given = known.api_key ? { previous_api_key: known.api_key } : {}
      const response = await service.exchange(site.wordpress, given)
      expect(response.body).toMatchObject({ result: 'reconnected', confirmation_needed: true })
      known.api_key = response.body.api_key
    }
    expect(await facts(api_key)).toMatchObject({ current_sites: 0 })
    const confirm = `/agency/sites/${site.site_id}/confirm`
    expect((await service.call('POST', confirm, { token: api_key })).status).toBe(404)
  })

  test('that is suspended accepts no sites and gets no responses, while its sites keep working', async () => {
    const { agency_id, api_key } = await service.agency()
    const join_token = await service.joinToken(api_key, { max_uses: 5 })
    const site = await service.connected({ join_token })
    const waiting = service.host.site()
    await service.register(waiting, { join_token })
    const change = (body: object) =>
      service.call('PATCH', `/agencies/${agency_id}`, { token: service.operator, body })
    expect((await change({ status: 'suspended' })).body.status).toBe('suspended')
    const denied = await service.call('GET', '/agency', { token: api_key })
    expect(denied).toMatchObject({ status: 403, code: 'form-bridge.agency_suspended' })
    const closed = { status: 403, code: 'form-bridge.agency_closed' }
    expect(await service.register(service.host.site(), { join_token })).toMatchObject(closed)
    expect(await service.exchange(waiting)).toMatchObject(closed)
    expect((await service.signed(site, 'GET', '/site')).status).toBe(200)
  })

  test('does not count staging sites, which are recognized by their host name and not by what they claim', async () => {
    for (const host of [
      'staging.client.com',
      'dev.example.org',
      'client-stg.example.org',
      'client.wpengine.com',
      'x.local',
      'shop.ddev.site',
      'test2.shop.org',
    ]) {
      expect(isStagingHost(host), host).toBe(true)
    }
    for (const host of [
      'client.com',
      'development-news.org',
      'greatest.org',
      'latest.news',
      'stage.theatre',
      'contest.org',
    ]) {
      expect(isStagingHost(host), host).toBe(host === 'stage.theatre')
    }
    const { api_key } = await service.agency(1)
    const join_token = await service.joinToken(api_key, { max_uses: 5 })
    await service.connected({ join_token, environment: 'staging' })
    expect(await facts(api_key)).toMatchObject({ current_sites: 1 })
    const another = service.host.site()
    await service.register(another, { join_token, environment: 'staging' })
    expect((await service.exchange(another)).code).toBe('form-bridge.agency_full')
  })

  test('does not count a site that an operator excludes, and counts it again only if there is room', async () => {
    const { agency_id, api_key } = await service.agency(1)
    const join_token = await service.joinToken(api_key, { max_uses: 5 })
    const { site_id } = await service.connected({ join_token })
    const mark = (outside_limit: boolean, id = site_id) =>
      service.call('PUT', `/agencies/${agency_id}/sites/${id}`, {
        token: service.operator,
        body: { outside_limit },
      })
    const responses = await concurrently(4, () => mark(true))
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(await facts(api_key)).toMatchObject({ current_sites: 0 })
    await service.connected({ join_token })
    expect(await mark(false)).toMatchObject({ status: 409, code: 'form-bridge.agency_full' })
    expect((await mark(true, 'site_0123456789abcdef')).code).toBe('form-bridge.site_not_found')
  })

  test('can admit another site after one is disconnected or removed', async () => {
    const { api_key } = await service.agency(2)
    const join_token = await service.joinToken(api_key, { max_uses: 9 })
    const [first, second] = [
      await service.connected({ join_token }),
      await service.connected({ join_token }),
    ]
    await service.signed(first, 'POST', '/site/disconnect', {})
    expect(await facts(api_key)).toMatchObject({ current_sites: 1 })
    const path = `/agency/sites/${second.site_id}`
    expect((await service.call('DELETE', path, { token: api_key })).status).toBe(204)
    expect(await facts(api_key)).toMatchObject({ current_sites: 0 })
    expect((await service.signed(second, 'GET', '/site')).body.agency_id).toBeNull()
  })

  test('confirms a site that was reconnected without its old key, and need not if it used a join token', async () => {
    const { api_key } = await service.agency()
    const join_token = await service.joinToken(api_key, { max_uses: 5 })
    const site = await service.connected({ join_token })
    await service.register(site.wordpress)
    expect((await service.exchange(site.wordpress)).body.confirmation_needed).toBe(true)
    const path = `/agency/sites/${site.site_id}/confirm`
    const confirmed = await service.call('POST', path, { token: api_key })
    expect(confirmed.body.confirmation_needed).toBe(false)
    const twice = await service.call('POST', path, { token: api_key })
    expect(twice.code).toBe('form-bridge.wrong_status')
    await service.register(site.wordpress, { join_token })
    expect((await service.exchange(site.wordpress)).body.confirmation_needed).toBe(false)
  })

  test('does not confirm a site with a token that was revoked before the exchange', async () => {
    const { api_key: token } = await service.agency()
    const join_token = await service.joinToken(token, { max_uses: 5 })
    const site = await service.connected({ join_token })
    await service.register(site.wordpress, { join_token })
    const { items } = (await service.call('GET', '/agency/join-tokens', { token })).body
    await service.call('DELETE', `/agency/join-tokens/${items[0].id}`, { token })
    const { body } = await service.exchange(site.wordpress)
    expect(body).toMatchObject({ result: 'reconnected', confirmation_needed: true })
  })

  test('can neither change a site of another agency nor learn that it exists', async () => {
    const [own, other] = [await service.agency(), await service.agency()]
    const join_token = await service.joinToken(other.api_key)
    const { site_id } = await service.connected({ join_token })
    const token = own.api_key
    const destination = { url: 'https://hooks.example.org' }
    const responses = await Promise.all([
      service.call('GET', `/agency/sites/${site_id}`, { token }),
      service.call('POST', `/agency/sites/${site_id}/confirm`, { token }),
      service.call('DELETE', `/agency/sites/${site_id}`, { token }),
      service.call('PUT', `/agency/sites/${site_id}/destination`, { token, body: destination }),
      service.call('GET', '/agency/sites/site_0123456789abcdef', { token }),
    ])
    for (const response of responses) {
      expect(response).toMatchObject({ status: 404, code: 'form-bridge.site_not_found' })
      expect(response.bytes).toEqual(responses[0].bytes)
    }
    const { items } = (await service.call('GET', '/agency/join-tokens', { token: other.api_key }))
      .body
    const revoke = await service.call('DELETE', `/agency/join-tokens/${items[0].id}`, { token })
    expect(revoke.code).toBe('form-bridge.join_token_not_found')
  })

  test('rotates its key, and of several concurrent rotations one succeeds', async () => {
    const { agency_id, api_key } = await service.agency()
    const responses = await concurrently(5, () =>
      service.call('POST', '/agency/key', { token: api_key }),
    )
    const [done] = responses.filter(({ status }) => status === 200)
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await service.call('GET', '/agency', { token: api_key })).code).toBe(
      'form-bridge.agency_unauthorized',
    )
    expect(await facts(done?.body.api_key)).toMatchObject({ agency_id })
    const path = `/agencies/${agency_id}/key`
    const byOperator = await service.call('POST', path, { token: service.operator })
    expect(await facts(byOperator.body.api_key)).toMatchObject({ agency_id })
  })

  test('is listed and found by operators, without its key', async () => {
    const { agency_id } = await service.agency()
    const list = await service.call('GET', '/agencies?limit=100', { token: service.operator })
    expect(list.body.items.map((each: { agency_id: string }) => each.agency_id)).toContain(
      agency_id,
    )
    const one = await service.call('GET', `/agencies/${agency_id}`, { token: service.operator })
    expect(JSON.stringify(one.body)).not.toMatch(/fb_agency_|hash/)
    const missing = '/agencies/agency_0123456789abcdef'
    const none = await service.call('GET', missing, { token: service.operator })
    expect(none).toMatchObject({ status: 404, code: 'form-bridge.agency_not_found' })
  })
})
