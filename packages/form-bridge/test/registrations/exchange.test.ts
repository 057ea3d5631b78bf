import { createHmac } from 'node:crypto'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { concurrently, createTestService } from '../support/test-service.ts'
import { end } from '../support/wordpress-host.ts'

describe.each(serviceStores())('connecting a site on $name', (store) => {
  const service = createTestService(store)
  const codes = (attempts: { method: string; result: string }[]) =>
    Object.fromEntries(attempts.map(({ method, result }) => [method, result]))

  test('proves the domain with the REST route and issues working credentials', async () => {
    const site = await service.connected()
    expect(site).toMatchObject({
      result: 'connected',
      proved_by: 'rest',
      confirmation_needed: false,
    })
    expect(site.wordpress.requests).toHaveLength(1)
    const shown = await service.call('GET', '/site', { token: site.api_key })
    expect(shown.body).toMatchObject({
      site_id: site.site_id,
      domain: site.domain,
      status: 'active',
    })
    expect((await service.signed(site, 'GET', '/site')).status).toBe(200)
  })

  test('proves it with ?rest_route= if permalinks are plain', async () => {
    const wordpress = service.host.site()
    wordpress.handlers.set('/wp-json/form-bridge/v1/verify', (_, response) =>
      end(response, 404, ''),
    )
    expect(await service.connected({}, wordpress)).toMatchObject({ proved_by: 'rest_query' })
  })

  test.each(['well_known', 'meta', 'dns'] as const)(
    'proves it with %s if REST is off',
    async (way) => {
      const wordpress = service.host.site()
      wordpress.handlers.set('/wp-json/form-bridge/v1/verify', (_, response) =>
        end(response, 403, ''),
      )
      wordpress.handlers.set('/?rest_route', (_, response) => end(response, 401, ''))
      const { body } = await service.register(wordpress)
      const { well_known, meta, dns } = body.proofs
      if (way === 'well_known') {
        const file = `# Form-Bridge\n${well_known.content}\n`
        wordpress.handlers.set('/.well-known/form-bridge-verification.txt', (_, response) =>
          end(response, 200, file),
        )
      }
      if (way === 'meta') {
        const head = `<head><meta content='${meta.content}' name="${meta.name}" /></head>`
        wordpress.handlers.set('/', (_, response) => end(response, 200, `<html>${head}</html>`))
      }
      if (way === 'dns') service.txt.set(dns.name, ['v=spf1 -all', dns.value])
      const response = await service.exchange(wordpress)
      service.txt.clear()
      expect(response.body).toMatchObject({ result: 'connected', proved_by: way })
    },
  )

  test('returns for each method why it did not prove the domain', async () => {
    const wordpress = service.host.site()
    wordpress.handlers.set('/wp-json/form-bridge/v1/verify', (_, response) =>
      end(response, 403, ''),
    )
    wordpress.handlers.set('/?rest_route', (_, response) => end(response, 200, '<html>Soon</html>'))
    wordpress.handlers.set('/.well-known/form-bridge-verification.txt', (_, response) =>
      end(response, 503, 'Maintenance'),
    )
    await service.register(wordpress)
    const response = await service.exchange(wordpress)
    expect(response).toMatchObject({ status: 403, code: 'form-bridge.proof_failed' })
    const { attempts } = response.body.error.data
    expect(codes(attempts)).toEqual({
      rest: 'forbidden',
      rest_query: 'not_json',
      well_known: 'server_error',
      meta: 'not_published',
      dns: 'not_published',
    })
    expect(attempts[0]).toMatchObject({ status: 403, message: expect.stringContaining('firewall') })
  })

  test.each([
    [
      'a proof of another registration',
      200,
      JSON.stringify({ response: 'a'.repeat(64) }),
      {},
      'wrong_answer',
    ],
    ['an answer that is too busy', 429, '', {}, 'rate_limited'],
    ['a teapot', 418, '', {}, 'unexpected_status'],
    [
      'a redirect to another host',
      302,
      '',
      { location: 'https://elsewhere.example/' },
      'redirected',
    ],
    ['nothing', 410, '', {}, 'not_found'],
  ])('diagnoses %s', async (_, status, body, headers, result) => {
    const wordpress = service.host.site()
    wordpress.handlers.set('/wp-json/form-bridge/v1/verify', (__, response) =>
      end(response, status, body, headers),
    )
    await service.register(wordpress)
    const response = await service.exchange(wordpress, { methods: ['rest'] })
    expect(codes(response.body.error.data.attempts)).toEqual({ rest: result })
  })

  test('follows a redirect on the same host', async () => {
    const wordpress = service.host.site()
    const path = '/wp-json/form-bridge/v1/verify'
    wordpress.handlers.set(path, (request, response, url) => {
      wordpress.handlers.delete(path)
      end(response, 301, '', { location: url.pathname + url.search })
    })
    expect(await service.connected({}, wordpress)).toMatchObject({ proved_by: 'rest' })
  })

  test('sends the site a fresh challenge each time, without cookies or secrets', async () => {
    const wordpress = service.host.site()
    const { body } = await service.register(wordpress)
    wordpress.handlers.set('/wp-json/form-bridge/v1/verify', (request, response) => {
      expect(request.headers).not.toHaveProperty('cookie')
      expect(JSON.stringify([request.headers, request.url])).not.toContain(body.temp_key)
      end(response, 500, '')
    })
    for (const _ of [1, 2]) await service.exchange(wordpress, { methods: ['rest'] })
    const challenges = wordpress.requests.map((path) => /challenge=([0-9a-f]{32})/.exec(path)?.[1])
    expect(challenges[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(new Set(challenges).size).toBe(2)
  })

  test('without waiting returns "verifying" first and the credentials to a later call', async () => {
    const wordpress = service.host.site()
    await service.register(wordpress)
    const first = await service.exchange(wordpress, { wait: false })
    expect(first).toMatchObject({ status: 202, body: { result: 'verifying' } })
    await expect
      .poll(async () => (await service.exchange(wordpress, { wait: false })).status)
      .toBe(200)
  })

  test('without waiting returns a failure once and then starts over', async () => {
    const wordpress = service.host.site()
    await service.register(wordpress)
    wordpress.handlers.set('/wp-json/form-bridge/v1/verify', (_, response) =>
      end(response, 403, ''),
    )
    const call = () => service.exchange(wordpress, { wait: false, methods: ['rest'] })
    expect((await call()).status).toBe(202)
    await expect.poll(async () => (await call()).code).toBe('form-bridge.proof_failed')
    wordpress.handlers.clear()
    expect((await call()).status).toBe(202)
    await expect.poll(async () => (await call()).status).toBe(200)
  })

  test('does not accept a proof that is older than ten minutes', async () => {
    const wordpress = service.host.site()
    await service.register(wordpress)
    await service.exchange(wordpress, { wait: false })
    const name = { domain: wordpress.domain, registration_id: wordpress.pending!.registration_id }
    const noted = async () => (await service.stores.registrations.get(name))?.proved_by
    await expect.poll(noted).toBe('rest')
    service.clock.advance({ minutes: 10, seconds: 1 })
    wordpress.handlers.set('/wp-json/form-bridge/v1/verify', (_, response) =>
      end(response, 403, ''),
    )
    const response = await service.exchange(wordpress, { methods: ['rest'] })
    expect(response.code).toBe('form-bridge.proof_failed')
  })

  test('returns the same error for a registration that is unknown, expired, used or has another key', async () => {
    const [used, late, pending] = [service.host.site(), service.host.site(), service.host.site()]
    await service.connected({}, used)
    await service.register(late)
    service.clock.advance({ hours: 1 })
    await service.register(pending)
    const unknown = { registration_id: 'reg_01JBKQ5W8ZC3V7N2M4X6T9R0PD' }
    const responses = await Promise.all([
      service.exchange(used),
      service.exchange(late),
      service.exchange(pending, unknown),
      service.exchange(pending, { temp_key: late.pending?.temp_key }),
      service.exchange(pending, { temp_key: 'nonsense' }),
      service.exchange(pending, { site_url: late.url }),
    ])
    for (const response of responses) {
      expect(response).toMatchObject({ status: 404, code: 'form-bridge.registration_invalid' })
      expect(response.bytes).toEqual(responses[0].bytes)
    }
  })

  test('a new registration expires the one that its owner names, and no other', async () => {
    const wordpress = service.host.site()
    const first = (await service.register(wordpress)).body
    await service.register(wordpress, {
      supersedes: { registration_id: first.registration_id, temp_key: 'fb_temp_guess' },
    })
    const name = { domain: wordpress.domain, registration_id: first.registration_id }
    expect((await service.stores.registrations.get(name))?.status).toBe('pending')
    const { registration_id, temp_key } = first
    await service.register(wordpress, { supersedes: { registration_id, temp_key } })
    expect((await service.stores.registrations.get(name))?.status).toBe('expired')
  })

  test.each([
    ['no URL', 'example', 'form-bridge.domain_invalid'],
    ['a user in the URL', 'https://a:b@example.com', 'form-bridge.domain_invalid'],
    ['a private address', 'http://10.0.0.1/', 'form-bridge.domain_invalid'],
    ['the metadata service of a cloud', 'http://169.254.169.254/', 'form-bridge.domain_invalid'],
    ['loopback in other digits', 'http://2130706434/', 'form-bridge.domain_invalid'],
    ['IPv6 loopback', 'http://[::1]/', 'form-bridge.domain_invalid'],
    ['a privileged port', 'http://example.com:22/', 'form-bridge.domain_invalid'],
  ])('refuses %s', async (_, site_url, code) => {
    const wordpress = { ...service.host.site(), url: site_url }
    expect(await service.register(wordpress)).toMatchObject({ status: 400, code })
  })

  test('refuses http unless the server allows it', async () => {
    const strict = await service.another({ FORM_BRIDGE_ALLOW_HTTP: 'false' })
    const body = { site_url: 'http://example.com', wp_version: '6.8', plugin_version: '1.0.0' }
    const response = await strict('POST', '/register', { body })
    expect(response).toMatchObject({ status: 400, code: 'form-bridge.https_required' })
  })

  test('identifies a site by host and path, whatever the case of the host and the trailing slash', async () => {
    const body = { wp_version: '6.8', plugin_version: '1.0.0' }
    const domainOf = async (site_url: string) =>
      (await service.call('POST', '/register', { body: { ...body, site_url } })).body.domain
    expect(await domainOf('https://Example.ORG:443/Shop/')).toBe('example.org/Shop')
    expect(await domainOf('https://münchen.org')).toBe('xn--mnchen-3ya.org')
  })

  test('returns credentials to exactly one of twenty concurrent exchanges', async () => {
    const wordpress = service.host.site()
    await service.register(wordpress)
    await service.exchange(wordpress, { wait: false })
    const name = { domain: wordpress.domain, registration_id: wordpress.pending!.registration_id }
    await expect
      .poll(async () => (await service.stores.registrations.get(name))?.proved_by)
      .toBe('rest')
    const responses = await concurrently(20, () => service.exchange(wordpress))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    const refused = new Set(responses.map(({ code }) => code))
    refused.delete(undefined)
    for (const code of refused) {
      expect(['form-bridge.registration_invalid', 'form-bridge.changed_meanwhile']).toContain(code)
    }
  })

  test('creates one site if several registrations of a domain are exchanged concurrently', async () => {
    const wordpress = service.host.site()
    const proofs = new Map<string, string>()
    wordpress.handlers.set('/wp-json/form-bridge/v1/verify', (_, response, url) => {
      const id = url.searchParams.get('registration_id') ?? ''
      const text = `verify.${url.searchParams.get('challenge')}.${id}.${wordpress.domain}`
      const proof = createHmac('sha256', proofs.get(id) ?? '')
        .update(text)
        .digest('hex')
      end(response, 200, JSON.stringify({ response: proof }))
    })
    const registered = await concurrently(5, () => service.register(wordpress))
    for (const { body } of registered) proofs.set(body.registration_id, body.temp_key)
    const responses = await Promise.all(
      registered.map(({ body: { registration_id, temp_key } }) =>
        service.exchange(wordpress, { registration_id, temp_key }),
      ),
    )
    const results = responses.map(({ body }) => body.result).filter(Boolean)
    expect(results.filter((result) => result === 'connected')).toHaveLength(1)
    expect(await service.stores.listSitesOfDomain(wordpress.domain)).toHaveLength(1)
    const working = await Promise.all(
      responses
        .filter(({ status }) => status === 200)
        .map(({ body }) => service.call('GET', '/site', { token: body.api_key })),
    )
    expect(working.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('a temporary key is rejected from the second in which it expires', async () => {
    const wordpress = service.host.site()
    await service.register(wordpress)
    service.clock.advance({ minutes: 59, seconds: 59 })
    const early = await service.exchange(wordpress, { methods: ['dns'] })
    expect(early.code).toBe('form-bridge.proof_failed')
    service.clock.advance({ seconds: 1 })
    expect((await service.exchange(wordpress)).code).toBe('form-bridge.registration_invalid')
  })
})
