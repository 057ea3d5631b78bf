/** Flaws of the service that the specification comes from, none of which this service has. */
import { createHmac } from 'node:crypto'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { concurrently, createTestService } from '../support/test-service.ts'
import { publish, releaseKey } from '../support/published-plugin.ts'
import { end } from '../support/wordpress-host.ts'

describe.each(serviceStores())('on $name', (store) => {
  const service = createTestService(store, {
    FORM_BRIDGE_API_LIMIT: '30',
    FORM_BRIDGE_RELEASE_KEYS: releaseKey.publicKey,
  })

  test('a limit is enforced: of forty requests in one second thirty pass', async () => {
    const { api_key: token } = await service.connected()
    let admitted = 0
    for (let n = 0; n < 40; n++) {
      admitted += (await service.call('GET', '/site', { token })).status === 200 ? 1 : 0
    }
    expect(admitted).toBe(30)
  })

  test('a limit holds for concurrent requests: exactly as many pass', async () => {
    const { api_key: token } = await service.connected()
    const responses = await concurrently(48, () => service.call('GET', '/site', { token }))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(30)
  })

  test('a published proof does not give anyone the credentials of the site', async () => {
    const wordpress = service.host.site()
    const { proofs, registration_id } = (await service.register(wordpress)).body
    const read = [
      proofs.well_known.content,
      proofs.meta.content,
      proofs.dns.value,
      proofs.meta.content.slice(4),
    ]
    const peek = await fetch(
      `${wordpress.url}wp-json/form-bridge/v1/verify?challenge=${'0'.repeat(32)}&registration_id=${registration_id}`,
    )
    read.push(((await peek.json()) as { response: string }).response)
    for (const temp_key of read) {
      const response = await service.exchange(wordpress, { temp_key })
      expect(response.code).toBe('form-bridge.registration_invalid')
    }
    // Nor can it be used as a key, secret or token.
    for (const token of read) {
      expect((await service.call('GET', '/site', { token })).status).toBe(401)
    }
    expect((await service.exchange(wordpress)).status).toBe(200)
  })

  test('registering a domain first does not give access to the credentials of its owner', async () => {
    const wordpress = service.host.site()
    const attacker = (await service.register({ ...wordpress })).body
    const owner = (await service.register(wordpress)).body
    expect(owner.temp_key).not.toBe(attacker.temp_key)
    const { registration_id, temp_key } = attacker
    const stolen = await service.exchange(wordpress, { registration_id, temp_key })
    expect(stolen.code).toBe('form-bridge.proof_failed')
    const again = await service.register({ ...wordpress })
    expect(again.body.temp_key).not.toBe(owner.temp_key)
    expect((await service.exchange(wordpress)).status).toBe(200)
  })

  test('an attacker who relays the challenge to the owner’s site gets a proof under the owner’s key, which is rejected', async () => {
    const [victim, relay] = [service.host.site(), service.host.site()]
    await service.register(victim)
    const attack = (await service.register({ ...victim })).body
    relay.handlers.set('/wp-json/form-bridge/v1/verify', (_, response) => end(response, 404, ''))
    victim.handlers.set('/wp-json/form-bridge/v1/verify', (_, response, url) => {
      // A plugin that responds for any registration.
      const text = `verify.${url.searchParams.get('challenge')}.${url.searchParams.get('registration_id')}.${victim.domain}`
      const mac = createHmac('sha256', victim.pending!.temp_key).update(text).digest('hex')
      end(response, 200, JSON.stringify({ response: mac }))
    })
    const { registration_id, temp_key } = attack
    const response = await service.exchange(victim, {
      registration_id,
      temp_key,
      methods: ['rest'],
    })
    expect(response.body.error.data.attempts).toMatchObject([{ result: 'wrong_answer' }])
  })

  test('two concurrent exchanges issue one set of credentials', async () => {
    const wordpress = service.host.site()
    await service.register(wordpress)
    const responses = await concurrently(2, () => service.exchange(wordpress))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await service.stores.listSitesOfDomain(wordpress.domain)).toHaveLength(1)
  })

  test('a caller over a limit gets 429 and the time to retry', async () => {
    const { api_key: token } = await service.connected()
    const responses = await concurrently(35, () => service.call('GET', '/site', { token }))
    const refused = responses.find(({ status }) => status !== 200)
    expect(refused).toMatchObject({ status: 429, code: 'form-bridge.rate_limited' })
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('registering again while a registration is pending succeeds and issues a new key', async () => {
    const wordpress = service.host.site()
    const [first, second] = [await service.register(wordpress), await service.register(wordpress)]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body.registration_id).not.toBe(first.body.registration_id)
    expect(second.body.expires_in).toBe(3600)
  })

  test('an unsigned update check that names a site does not change that site', async () => {
    await publish(service.call, service.operator, '1.1.0')
    const { site_id } = await service.connected()
    const path = '/updates/check?slug=form-bridge&current_version=0.0.1'
    await service.call('GET', `${path}&site_id=${site_id}`)
    await service.call('GET', path, { headers: { 'x-fb-site': site_id } })
    expect(await service.stores.updateChecks.current(site_id)).toBeUndefined()
    expect((await service.stores.updateChecks.history(site_id)).items).toEqual([])
  })

  test('the link to a package works half a day later, when WordPress uses it', async () => {
    await publish(service.call, service.operator, '1.1.0')
    const site = await service.connected()
    const path = '/updates/check?slug=form-bridge&current_version=1.0.0'
    const { body } = await service.signed(site, 'GET', path)
    service.clock.advance({ hours: 12 })
    const link = body.package.slice(body.package.indexOf('/plugins/'))
    expect((await service.call('GET', link)).status).toBe(200)
  })

  test('a forwarded address from an untrusted proxy is ignored', async () => {
    const register = (n: number) =>
      service.call('POST', '/register', {
        body: { site_url: service.host.site().url, wp_version: '6.8', plugin_version: '1.0.0' },
        peer: '198.51.100.9',
        headers: { 'x-forwarded-for': `203.0.113.${n}` },
      })
    const responses = await concurrently(35, register)
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(30)
  })

  test('a proof is never fetched from a private address, not even through a redirect', async () => {
    const wordpress = service.host.site()
    wordpress.handlers.set('/wp-json/form-bridge/v1/verify', (_, response) =>
      end(response, 302, '', { location: 'http://169.254.169.254/latest/meta-data/' }),
    )
    await service.register(wordpress)
    const response = await service.exchange(wordpress, { methods: ['rest'] })
    const [{ result }] = response.body.error.data.attempts
    expect(['redirected', 'blocked_address']).toContain(result)
    const inside = await service.register({ ...wordpress, url: 'http://169.254.169.254/' })
    expect(inside.code).toBe('form-bridge.domain_invalid')
  })

  test('an agency can be joined with a join token only, never with its id', async () => {
    const { agency_id } = await service.agency()
    const wordpress = service.host.site()
    const named = await service.register(wordpress, { agency_id })
    expect(named).toMatchObject({ status: 400, code: 'request.invalid' })
  })

  test('a site that has lost its database can be reconnected with one click', async () => {
    const site = await service.connected()
    const again = await service.connected({}, site.wordpress)
    expect(again).toMatchObject({ result: 'reconnected', site_id: site.site_id })
    expect((await service.signed(again, 'GET', '/site')).status).toBe(200)
  })
})
