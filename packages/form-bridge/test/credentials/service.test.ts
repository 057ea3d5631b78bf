import { createHmac } from 'node:crypto'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test, vi } from 'vitest'
import { type ConnectedSite, newSubmission, createTestService } from '../support/test-service.ts'
import { end } from '../support/wordpress-host.ts'

describe.each(serviceStores())('a reconnected site on $name', (store) => {
  const service = createTestService(store)
  const operate = (site_id: string, action: string) =>
    service.call('POST', `/sites/${site_id}/${action}`, { token: service.operator })
  const statusOf = async ({ api_key: token }: { api_key: string }) =>
    (await service.call('GET', '/site', { token })).status
  const heartbeat = { wp_version: '6.8', plugin_version: '1.0.0' }

  describe('a reconnection', () => {
    const again = async (site: ConnectedSite, given = {}) => {
      await service.register(site.wordpress)
      return service.exchange(site.wordpress, given)
    }

    test('keeps the site id, issues new keys and revokes all older ones', async () => {
      const site = await service.connected()
      const rotated = (await service.signed(site, 'POST', '/site/rotate', {})).body
      const { body } = await again(site)
      expect(body).toMatchObject({
        result: 'reconnected',
        site_id: site.site_id,
        confirmation_needed: false,
      })
      expect(await statusOf(site)).toBe(401)
      expect(await statusOf(rotated)).toBe(401)
      expect((await service.signed({ ...site, ...rotated }, 'GET', '/site')).status).toBe(401)
      expect((await service.signed(body, 'GET', '/site')).status).toBe(200)
    })

    test('is recorded as a security event', async () => {
      const site = await service.connected()
      await again(site)
      const { items } = await service.stores.securityEvents.listBySubject({ site_id: site.site_id })
      expect(items[0]?.details).toMatchObject({ reason: 'reconnected' })
    })

    test('and a move return their keys even if the security event cannot be recorded', async () => {
      const site = await service.connected()
      const target = service.host.site()
      const put = service.db.putItem
      const lost = vi.spyOn(service.db, 'putItem').mockImplementation(async (input) => {
        const response = await put.call(service.db, input)
        if (!('event_type' in input.Item)) return response
        throw Object.assign(new Error('The answer got lost'), { name: 'TimeoutError' })
      })
      try {
        const { body } = await again(site, { previous_api_key: site.api_key })
        expect(body).toMatchObject({ result: 'reconnected' })
        await service.register(target)
        const moved = await service.exchange(target, { previous_api_key: body.api_key })
        expect(moved.body).toMatchObject({ result: 'moved', site_id: site.site_id })
      } finally {
        lost.mockRestore()
      }
      expect(service.logged.join()).toContain('security event not recorded')
    })

    test('without the old key requires a confirmation before submissions are accepted', async () => {
      const site = await service.connected()
      const url = `http://127.0.0.1:${service.host.port}/nowhere`
      await service.call('PUT', `/sites/${site.site_id}/destination`, {
        token: service.operator,
        body: { url },
      })
      const { body } = await again(site)
      expect(body.confirmation_needed).toBe(true)
      const held = await service.signed(body, 'POST', '/webhook', newSubmission())
      expect(held).toMatchObject({ status: 409, code: 'form-bridge.confirmation_needed' })
      expect((await operate(site.site_id, 'confirm')).body.confirmation_needed).toBe(false)
      const sent = await service.signed(body, 'POST', '/webhook', newSubmission())
      expect(sent.code).toBe('form-bridge.destination_refused')
    })

    test('with the old key needs no confirmation', async () => {
      const site = await service.connected()
      const url = `http://127.0.0.1:${service.host.port}/nowhere`
      const body = { url }
      await service.call('PUT', `/sites/${site.site_id}/destination`, {
        token: service.operator,
        body,
      })
      const response = await again(site, { previous_api_key: site.api_key })
      expect(response.body).toMatchObject({ result: 'reconnected', confirmation_needed: false })
    })

    test('with the key of another site is refused and changes nothing', async () => {
      const [site, other] = [await service.connected(), await service.connected()]
      const response = await again(site, { previous_api_key: other.api_key })
      expect(response).toMatchObject({ status: 409, code: 'form-bridge.domain_has_site' })
      expect(await statusOf(site)).toBe(200)
      expect(await statusOf(other)).toBe(200)
    })

    test('with an unknown key is refused and changes nothing', async () => {
      const site = await service.connected()
      const made = (await service.signed(site, 'POST', '/site/rotate', { grace_seconds: 0 })).body
      const response = await again(site, { previous_api_key: site.api_key })
      expect(response).toMatchObject({ status: 403, code: 'form-bridge.previous_key_invalid' })
      expect(await statusOf(made)).toBe(200)
    })
  })

  describe('a clone or a move', () => {
    test('is detected by the home address, suspends nothing and offers the choices', async () => {
      const site = await service.connected()
      const home = 'https://staging.example.org/blog/'
      const response = await service.signed(site, 'POST', '/site/heartbeat', heartbeat, { home })
      expect(response).toMatchObject({ status: 409, code: 'form-bridge.site_moved' })
      expect(response.body.error.data).toEqual({
        domain: site.domain,
        home: 'staging.example.org/blog',
        choices: ['move', 'new_site', 'staging'],
      })
      const original = { home: site.wordpress.url }
      const fine = await service.signed(site, 'POST', '/site/heartbeat', heartbeat, original)
      expect(fine.status).toBe(200)
    })

    test('can be connected as a new site, and the original keeps its keys', async () => {
      const site = await service.connected()
      const clone = await service.connected()
      expect(clone.site_id).not.toBe(site.site_id)
      expect(await statusOf(site)).toBe(200)
    })

    test('with the old key keeps the site id and all data, and leaves nothing at the old domain', async () => {
      const site = await service.connected()
      const target = service.host.site()
      await service.register(target)
      const { body } = await service.exchange(target, { previous_api_key: site.api_key })
      expect(body).toMatchObject({ result: 'moved', site_id: site.site_id, domain: target.domain })
      expect(await statusOf(site)).toBe(401)
      expect((await service.signed(body, 'GET', '/site')).body.domain).toBe(target.domain)
      expect(await service.stores.sites.findByDomain(site.domain)).toBeUndefined()
    })

    test('to a domain that has a site is refused, and that site can be reconnected without a key', async () => {
      const [site, other] = [await service.connected(), await service.connected()]
      await service.register(other.wordpress)
      const response = await service.exchange(other.wordpress, { previous_api_key: site.api_key })
      expect(response).toMatchObject({ status: 409, code: 'form-bridge.domain_has_site' })
      expect(await statusOf(site)).toBe(200)
      expect(await statusOf(other)).toBe(200)
      const { body } = await service.exchange(other.wordpress)
      expect(body).toMatchObject({ result: 'reconnected', site_id: other.site_id })
    })

    test('of a suspended site is refused', async () => {
      const site = await service.connected()
      await operate(site.site_id, 'suspend')
      const target = service.host.site()
      await service.register(target)
      const response = await service.exchange(target, { previous_api_key: site.api_key })
      expect(response.code).toBe('form-bridge.site_suspended')
    })

    test('of two sites to one domain concurrently succeeds once, and the other one gets a conflict', async () => {
      const [first, second] = [await service.connected(), await service.connected()]
      const target = service.host.site()
      const secrets = new Map<string, string>()
      target.handlers.set('/wp-json/form-bridge/v1/verify', (_, response, url) => {
        const id = url.searchParams.get('registration_id') ?? ''
        const text = `verify.${url.searchParams.get('challenge')}.${id}.${target.domain}`
        const mac = createHmac('sha256', secrets.get(id) ?? '')
          .update(text)
          .digest('hex')
        end(response, 200, JSON.stringify({ response: mac }))
      })
      const responses = await Promise.all(
        [first, second].map(async ({ api_key }) => {
          const { registration_id, temp_key } = (await service.register(target)).body
          secrets.set(registration_id, temp_key)
          const claim = { registration_id, temp_key, previous_api_key: api_key }
          return service.exchange(target, claim)
        }),
      )
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
      const [refused] = responses.filter(({ status }) => status !== 200)
      expect(refused?.code).toBe('form-bridge.domain_has_site')
    })

    test('that is sent twice concurrently succeeds once', async () => {
      const site = await service.connected()
      const targets = [service.host.site(), service.host.site(), service.host.site()]
      for (const target of targets) await service.register(target)
      const responses = await Promise.all(
        targets.map((target) => service.exchange(target, { previous_api_key: site.api_key })),
      )
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
      const losers = responses.filter(({ status }) => status !== 200).map(({ code }) => code)
      for (const code of losers) {
        expect(['form-bridge.changed_meanwhile', 'form-bridge.previous_key_invalid']).toContain(
          code,
        )
      }
    })
  })
})
