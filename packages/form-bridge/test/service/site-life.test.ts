import { createHmac } from 'node:crypto'
import { testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { atOnce, type ConnectedSite, newSubmission, openService } from './open-service.ts'
import { end } from './wordpress-host.ts'

describe.each(testStores().slice(0, 1))('the life of a site on $name', (store) => {
  const service = openService(store)
  const operate = (site_id: string, action: string) =>
    service.ask('POST', `/sites/${site_id}/${action}`, { token: service.operator })
  const statusOf = async ({ api_key: token }: { api_key: string }) =>
    (await service.ask('GET', '/site', { token })).status
  const heartbeat = { wp_version: '6.8', plugin_version: '1.0.0' }

  describe('rotation', () => {
    test('gives new keys, and the old ones work for the grace period and no second longer', async () => {
      const site = await service.connected()
      const answer = await service.signed(site, 'POST', '/site/rotate', { grace_seconds: 3600 })
      expect(answer.body).toMatchObject({ key_version: 2 })
      const fresh = { ...site, ...answer.body }
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

    test('with no grace ends the old keys at once', async () => {
      const site = await service.connected()
      const { body } = await service.signed(site, 'POST', '/site/rotate', { grace_seconds: 0 })
      expect(body.previous_valid_until).toBeNull()
      expect(await statusOf(site)).toBe(401)
      expect((await service.signed(site, 'GET', '/site')).status).toBe(401)
      expect(await statusOf(body)).toBe(200)
    })

    test('of many at once leaves keys that work, and each that was told of new keys has them', async () => {
      const site = await service.connected()
      const answers = await atOnce(8, () =>
        service.signed(site, 'POST', '/site/rotate', { grace_seconds: 600 }),
      )
      const done = answers.filter(({ status }) => status === 200)
      expect(done.length).toBeGreaterThan(0)
      const versions = done.map(({ body }) => body.key_version)
      expect(new Set(versions).size).toBe(versions.length)
      const refusals = answers.filter(({ status }) => status !== 200).map(({ code }) => code)
      for (const code of refusals) {
        expect(['form-bridge.changed_meanwhile', 'form-bridge.unauthorized']).toContain(code)
      }
      const newest = done.find(({ body }) => body.key_version === Math.max(...versions))
      expect((await service.signed({ ...site, ...newest?.body }, 'GET', '/site')).status).toBe(200)
    })

    test('whose answer got lost is repeated with the old secret', async () => {
      const site = await service.connected()
      await service.signed(site, 'POST', '/site/rotate', {})
      const { body } = await service.signed(site, 'POST', '/site/rotate', {})
      expect(body.key_version).toBe(3)
      expect((await service.signed({ ...site, ...body }, 'GET', '/site')).status).toBe(200)
    })
  })

  describe('suspension', () => {
    test('holds from the next request on, signed or with a key, here and in another process', async () => {
      const site = await service.connected()
      const elsewhere = await service.another()
      expect((await elsewhere('GET', '/site', { token: site.api_key })).body.status).toBe('active')
      expect((await operate(site.site_id, 'suspend')).body.status).toBe('suspended')
      for (const ask of [service.ask, elsewhere]) {
        const answer = await service.signed(site, 'POST', '/site/heartbeat', heartbeat, {}, ask)
        expect(answer).toMatchObject({ status: 403, code: 'form-bridge.site_suspended' })
      }
      const path = '/updates/check?slug=form-bridge&current_version=1.0.0'
      const byKey = await elsewhere('GET', path, { token: site.api_key })
      expect(byKey.code).toBe('form-bridge.site_suspended')
    })

    test('lets the site see its status, and ends without a new key', async () => {
      const site = await service.connected()
      await operate(site.site_id, 'suspend')
      expect((await service.signed(site, 'GET', '/site')).body.status).toBe('suspended')
      await operate(site.site_id, 'resume')
      expect((await service.signed(site, 'POST', '/site/heartbeat', heartbeat)).status).toBe(200)
    })

    test('is not escaped by connecting again', async () => {
      const site = await service.connected()
      await operate(site.site_id, 'suspend')
      await service.register(site.wordpress)
      const answer = await service.exchange(site.wordpress)
      expect(answer).toMatchObject({ status: 403, code: 'form-bridge.site_suspended' })
    })

    test('while requests are running lets none through that began after it', async () => {
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

    test('twice, or of a site that is not there, is refused', async () => {
      const site = await service.connected()
      await operate(site.site_id, 'suspend')
      expect(await operate(site.site_id, 'suspend')).toMatchObject({
        code: 'form-bridge.wrong_status',
      })
      const missing = await operate('site_0123456789abcdef', 'suspend')
      expect(missing).toMatchObject({ status: 404, code: 'form-bridge.site_not_found' })
    })
  })

  describe('the end', () => {
    test('by the site itself is for ever, and its domain may be connected as a new site', async () => {
      const site = await service.connected()
      const answer = await service.signed(site, 'POST', '/site/disconnect', {})
      expect(answer.body).toEqual({ status: 'disabled' })
      const after = await service.signed(site, 'GET', '/site')
      expect(after).toMatchObject({ status: 403, code: 'form-bridge.site_disabled' })
      expect(await operate(site.site_id, 'resume')).toMatchObject({
        code: 'form-bridge.wrong_status',
      })
      const next = await service.connected({}, site.wordpress)
      expect(next).toMatchObject({ result: 'connected' })
      expect(next.site_id).not.toBe(site.site_id)
    })

    test('is open to a site that is suspended, and to a clone', async () => {
      const site = await service.connected()
      await operate(site.site_id, 'suspend')
      const home = 'https://clone.example.org'
      const answer = await service.signed(site, 'POST', '/site/disconnect', {}, { home })
      expect(answer.status).toBe(200)
    })
  })

  describe('a reconnection', () => {
    const again = async (site: ConnectedSite, given = {}) => {
      await service.register(site.wordpress)
      return service.exchange(site.wordpress, given)
    }

    test('keeps the site id, gives new keys and voids all older ones', async () => {
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

    test('is written down as something to look at', async () => {
      const site = await service.connected()
      await again(site)
      const { items } = await service.layer.securityEvents.of({ site_id: site.site_id })
      expect(items[0]?.details).toMatchObject({ reason: 'reconnected' })
    })

    test('without the old key leaves the destination to be confirmed, and submissions wait for it', async () => {
      const site = await service.connected()
      const url = `http://127.0.0.1:${service.host.port}/nowhere`
      await service.ask('PUT', `/sites/${site.site_id}/destination`, {
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
      await service.ask('PUT', `/sites/${site.site_id}/destination`, {
        token: service.operator,
        body,
      })
      const answer = await again(site, { previous_api_key: site.api_key })
      expect(answer.body).toMatchObject({ result: 'reconnected', confirmation_needed: false })
    })

    test('with the key of another site is refused and changes nothing', async () => {
      const [site, other] = [await service.connected(), await service.connected()]
      const answer = await again(site, { previous_api_key: other.api_key })
      expect(answer).toMatchObject({ status: 403, code: 'form-bridge.previous_key_invalid' })
      expect(await statusOf(site)).toBe(200)
      expect(await statusOf(other)).toBe(200)
    })
  })

  describe('a clone or a move', () => {
    test('is told apart by the home address, suspends nothing and offers the choices', async () => {
      const site = await service.connected()
      const home = 'https://staging.example.org/blog/'
      const answer = await service.signed(site, 'POST', '/site/heartbeat', heartbeat, { home })
      expect(answer).toMatchObject({ status: 409, code: 'form-bridge.site_moved' })
      expect(answer.body.error.data).toEqual({
        domain: site.domain,
        home: 'staging.example.org/blog',
        choices: ['move', 'new_site', 'staging'],
      })
      const original = { home: site.wordpress.url }
      const fine = await service.signed(site, 'POST', '/site/heartbeat', heartbeat, original)
      expect(fine.status).toBe(200)
    })

    test('that chooses to be a new site gets one, and the original keeps its keys', async () => {
      const site = await service.connected()
      const clone = await service.connected()
      expect(clone.site_id).not.toBe(site.site_id)
      expect(await statusOf(site)).toBe(200)
    })

    test('that moves with the old key keeps its id and all it has, and leaves nothing behind', async () => {
      const site = await service.connected()
      const target = service.host.site()
      await service.register(target)
      const { body } = await service.exchange(target, { previous_api_key: site.api_key })
      expect(body).toMatchObject({ result: 'moved', site_id: site.site_id, domain: target.domain })
      expect(await statusOf(site)).toBe(401)
      expect((await service.signed(body, 'GET', '/site')).body.domain).toBe(target.domain)
      expect(await service.layer.sites.ofDomain(site.domain)).toBeUndefined()
    })

    test('to a domain that has a site is a reconnection of that one, for which its key is needed', async () => {
      const [site, other] = [await service.connected(), await service.connected()]
      await service.register(other.wordpress)
      const answer = await service.exchange(other.wordpress, { previous_api_key: site.api_key })
      expect(answer.code).toBe('form-bridge.previous_key_invalid')
      expect(await statusOf(other)).toBe(200)
    })

    test('of a suspended site is refused', async () => {
      const site = await service.connected()
      await operate(site.site_id, 'suspend')
      const target = service.host.site()
      await service.register(target)
      const answer = await service.exchange(target, { previous_api_key: site.api_key })
      expect(answer.code).toBe('form-bridge.site_suspended')
    })

    test('of two sites to one domain at once happens once, and the other is told that it is taken', async () => {
      const [first, second] = [await service.connected(), await service.connected()]
      const target = service.host.site()
      const secrets = new Map<string, string>()
      target.answers.set('/wp-json/form-bridge/v1/verify', (_, response, url) => {
        const id = url.searchParams.get('registration_id') ?? ''
        const text = `verify.${url.searchParams.get('challenge')}.${id}.${target.domain}`
        const mac = createHmac('sha256', secrets.get(id) ?? '')
          .update(text)
          .digest('hex')
        end(response, 200, JSON.stringify({ response: mac }))
      })
      const answers = await Promise.all(
        [first, second].map(async ({ api_key }) => {
          const { registration_id, temp_key } = (await service.register(target)).body
          secrets.set(registration_id, temp_key)
          const claim = { registration_id, temp_key, previous_api_key: api_key }
          return service.exchange(target, claim)
        }),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      const [refused] = answers.filter(({ status }) => status !== 200)
      // By the transaction, or already by the key if the other had come before.
      expect(['form-bridge.domain_has_site', 'form-bridge.previous_key_invalid']).toContain(
        refused?.code,
      )
    })

    test('twice at once happens once', async () => {
      const site = await service.connected()
      const targets = [service.host.site(), service.host.site(), service.host.site()]
      for (const target of targets) await service.register(target)
      const answers = await Promise.all(
        targets.map((target) => service.exchange(target, { previous_api_key: site.api_key })),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      const losers = answers.filter(({ status }) => status !== 200).map(({ code }) => code)
      for (const code of losers) {
        expect(['form-bridge.changed_meanwhile', 'form-bridge.previous_key_invalid']).toContain(
          code,
        )
      }
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
        (await service.layer.authentication.siteOfId(site.site_id))?.telemetry
      await beat()
      expect(await stored()).toBeUndefined()
      await beat(true)
      expect(await stored()).toEqual({ wp_version: '6.8', php_version: '8.2.35' })
      await beat(false)
      expect(await stored()).toBeUndefined()
    })

    test('says when to come again, spread over hours, and that it was seen', async () => {
      const site = await service.connected()
      service.clock.advance({ hours: 2 })
      const { body } = await service.signed(site, 'POST', '/site/heartbeat', heartbeat)
      expect(body).toMatchObject({ status: 'active', latest_version: null })
      expect(body.next_in).toBeGreaterThanOrEqual(43_200)
      expect(body.next_in).toBeLessThan(54_000)
      const seen = (await service.layer.authentication.siteOfId(site.site_id))?.last_seen
      expect(seen).toBe(new Date(service.clock.now()).toISOString())
    })
  })
})
