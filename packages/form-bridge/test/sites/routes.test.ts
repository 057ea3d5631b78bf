import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { concurrently, createTestService } from '../support/test-service.ts'

describe.each(serviceStores())('a connected site on $name', (store) => {
  const service = createTestService(store)
  const operate = (site_id: string, action: string) =>
    service.call('POST', `/sites/${site_id}/${action}`, { token: service.operator })
  const statusOf = async ({ api_key: token }: { api_key: string }) =>
    (await service.call('GET', '/site', { token })).status
  const heartbeat = { wp_version: '6.8', plugin_version: '1.0.0' }

  describe('rotation', () => {
    test('issues new keys, and the old ones work until the end of the grace period', async () => {
      const site = await service.connected()
      const response = await service.signed(site, 'POST', '/site/rotate', { grace_seconds: 3600 })
      expect(response.body).toMatchObject({ key_version: 2 })
      const fresh = { ...site, ...response.body }
      service.clock.advance({ seconds: 3599 })
      for (const keys of [site, fresh]) {
        expect(await statusOf(keys)).toBe(200)
        expect((await service.signed(keys, 'GET', '/site')).status).toBe(200)
      }
      service.clock.advance({ seconds: 1 })
      expect(await statusOf(site)).toBe(401)
      expect((await service.signed(site, 'GET', '/site')).status).toBe(401)
      expect(await statusOf(fresh)).toBe(200)
      expect((await service.signed(fresh, 'GET', '/site')).status).toBe(200)
    })

    test('with no grace period revokes the old keys immediately', async () => {
      const site = await service.connected()
      const { body } = await service.signed(site, 'POST', '/site/rotate', { grace_seconds: 0 })
      expect(body.previous_valid_until).toBeNull()
      expect(await statusOf(site)).toBe(401)
      expect((await service.signed(site, 'GET', '/site')).status).toBe(401)
      expect(await statusOf(body)).toBe(200)
    })

    test('by many concurrent requests leaves working keys, and each successful one returned valid keys', async () => {
      const site = await service.connected()
      const responses = await concurrently(8, () =>
        service.signed(site, 'POST', '/site/rotate', { grace_seconds: 600 }),
      )
      const done = responses.filter(({ status }) => status === 200)
      expect(done.length).toBeGreaterThan(0)
      const versions = done.map(({ body }) => body.key_version)
      expect(new Set(versions).size).toBe(versions.length)
      const refusals = responses.filter(({ status }) => status !== 200).map(({ code }) => code)
      for (const code of refusals) {
        expect(['form-bridge.changed_meanwhile', 'form-bridge.unauthorized']).toContain(code)
      }
      const newest = done.find(({ body }) => body.key_version === Math.max(...versions))
      expect((await service.signed({ ...site, ...newest?.body }, 'GET', '/site')).status).toBe(200)
    })

    test('whose response was lost can be repeated with the old secret', async () => {
      const site = await service.connected()
      await service.signed(site, 'POST', '/site/rotate', {})
      const { body } = await service.signed(site, 'POST', '/site/rotate', {})
      expect(body.key_version).toBe(3)
      expect((await service.signed({ ...site, ...body }, 'GET', '/site')).status).toBe(200)
    })
  })

  describe('suspension', () => {
    test('applies from the next request, signed or with a key, in this process and another', async () => {
      const site = await service.connected()
      const elsewhere = await service.another()
      expect((await elsewhere('GET', '/site', { token: site.api_key })).body.status).toBe('active')
      expect((await operate(site.site_id, 'suspend')).body.status).toBe('suspended')
      for (const call of [service.call, elsewhere]) {
        const response = await service.signed(site, 'POST', '/site/heartbeat', heartbeat, {}, call)
        expect(response).toMatchObject({ status: 403, code: 'form-bridge.site_suspended' })
      }
      const path = '/updates/check?slug=form-bridge&current_version=1.0.0'
      const byKey = await elsewhere('GET', path, { token: site.api_key })
      expect(byKey.code).toBe('form-bridge.site_suspended')
    })

    test('lets the site read its status, and ends without a new key', async () => {
      const site = await service.connected()
      await operate(site.site_id, 'suspend')
      expect((await service.signed(site, 'GET', '/site')).body.status).toBe('suspended')
      await operate(site.site_id, 'resume')
      expect((await service.signed(site, 'POST', '/site/heartbeat', heartbeat)).status).toBe(200)
    })

    test('is not ended by connecting again', async () => {
      const site = await service.connected()
      await operate(site.site_id, 'suspend')
      await service.register(site.wordpress)
      const response = await service.exchange(site.wordpress)
      expect(response).toMatchObject({ status: 403, code: 'form-bridge.site_suspended' })
    })

    test('during running requests admits none that began after it', async () => {
      const site = await service.connected()
      let suspended = false
      const [, ...outcomes] = await Promise.all([
        operate(site.site_id, 'suspend').then(() => (suspended = true)),
        ...Array.from({ length: 20 }, async () => {
          const began = suspended
          const { status } = await service.signed(site, 'POST', '/site/heartbeat', heartbeat)
          return { began, status }
        }),
      ])
      const after = outcomes.filter(({ began }) => began)
      expect(after.filter(({ status }) => status !== 403)).toEqual([])
      expect((await service.signed(site, 'POST', '/site/heartbeat', heartbeat)).status).toBe(403)
    })

    test('of a suspended or unknown site is rejected', async () => {
      const site = await service.connected()
      await operate(site.site_id, 'suspend')
      expect(await operate(site.site_id, 'suspend')).toMatchObject({
        status: 409,
        code: 'form-bridge.wrong_status',
        body: { error: { data: { status: 'suspended', confirmation_needed: false } } },
      })
      const missing = await operate('site_0123456789abcdef', 'suspend')
      expect(missing).toMatchObject({ status: 404, code: 'form-bridge.site_not_found' })
    })
  })

  describe('disconnecting', () => {
    test('by the site itself is permanent, and its domain can be connected as a new site', async () => {
      const site = await service.connected()
      const response = await service.signed(site, 'POST', '/site/disconnect', {})
      expect(response.body).toEqual({ status: 'disabled' })
      const after = await service.signed(site, 'GET', '/site')
      expect(after).toMatchObject({ status: 403, code: 'form-bridge.site_disabled' })
      expect(await operate(site.site_id, 'resume')).toMatchObject({
        code: 'form-bridge.wrong_status',
        body: { error: { data: { status: 'disabled' } } },
      })
      const next = await service.connected({}, site.wordpress)
      expect(next).toMatchObject({ result: 'connected' })
      expect(next.site_id).not.toBe(site.site_id)
    })

    test('does not end a suspension', async () => {
      const site = await service.connected()
      await operate(site.site_id, 'suspend')
      const response = await service.signed(site, 'POST', '/site/disconnect', {})
      expect(response).toMatchObject({ status: 403, code: 'form-bridge.site_suspended' })
      await service.register(site.wordpress)
      const again = await service.exchange(site.wordpress)
      expect(again).toMatchObject({ status: 403, code: 'form-bridge.site_suspended' })
    })

    test('a clone does not change the original', async () => {
      const site = await service.connected()
      const home = 'https://clone.example.org'
      const response = await service.signed(site, 'POST', '/site/disconnect', {}, { home })
      expect(response).toMatchObject({ status: 409, code: 'form-bridge.site_moved' })
      expect((await service.signed(site, 'GET', '/site')).body.status).toBe('active')
    })
  })

  describe('a heartbeat', () => {
    test('keeps versions with consent only, and deletes them when it is withdrawn', async () => {
      const site = await service.connected()
      const beat = (telemetry?: boolean) =>
        service.signed(site, 'POST', '/site/heartbeat', {
          ...heartbeat,
          php_version: '8.2.35',
          ...(telemetry !== undefined && { telemetry }),
        })
      const stored = async () =>
        (await service.stores.authentication.findSiteById(site.site_id))?.telemetry
      await beat()
      expect(await stored()).toBeUndefined()
      await beat(true)
      expect(await stored()).toEqual({ wp_version: '6.8', php_version: '8.2.35' })
      await beat(false)
      expect(await stored()).toBeUndefined()
    })

    test('requires only the plugin version, and returns the time of the next heartbeat with jitter', async () => {
      const site = await service.connected()
      service.clock.advance({ hours: 2 })
      const own = { plugin_version: '1.0.0' }
      const { body } = await service.signed(site, 'POST', '/site/heartbeat', own)
      expect(body).toMatchObject({ status: 'active', latest_version: null })
      expect(body.next_in).toBeGreaterThanOrEqual(43_200)
      expect(body.next_in).toBeLessThan(54_000)
      const seen = (await service.stores.authentication.findSiteById(site.site_id))?.last_seen
      expect(seen).toBe(new Date(service.clock.now()).toISOString())
    })
  })
})
