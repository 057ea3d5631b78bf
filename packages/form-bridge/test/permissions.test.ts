import { PERMISSION } from '@strongroom/kit/http/permissions'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createTestService } from './support/test-service.ts'

interface Parameter {
  name: string
  in: string
  required: boolean
  schema: { pattern: string }
  example: string
}

describe.each(serviceStores())('operators on $name', (store) => {
  const service = createTestService(store)
  const get = (path: string) => service.call('GET', path, { token: service.operator })

  test('list sites by status, search and page', async () => {
    const sites = [await service.connected(), await service.connected(), await service.connected()]
    await service.call('POST', `/sites/${sites[0]!.site_id}/suspend`, { token: service.operator })
    const ids = (items: { site_id: string }[]) => items.map(({ site_id }) => site_id)
    expect(ids((await get('/sites?status=suspended')).body.items)).toEqual([sites[0]!.site_id])
    const first = (await get('/sites?limit=1')).body
    const second = (await get(`/sites?limit=1&cursor=${first.cursor}`)).body
    expect(new Set(ids([...first.items, ...second.items]))).toEqual(
      new Set([sites[1]!.site_id, sites[2]!.site_id]),
    )
    const name = sites[1]!.domain.split('/')[1]
    expect(ids((await get(`/sites?search=${name}`)).body.items)).toEqual([sites[1]!.site_id])
    const foreign = await get(`/sites?limit=1&status=suspended&cursor=${first.cursor}`)
    expect(foreign).toMatchObject({ status: 400, code: 'request.invalid_cursor' })
  })

  test('get a site without its secrets', async () => {
    const site = await service.connected()
    const { body } = await get(`/sites/${site.site_id}`)
    expect(body).toMatchObject({ domain: site.domain, status: 'active', installed_version: null })
    expect(JSON.stringify(body)).not.toMatch(/hash|secret|AgR4/)
  })

  test('list pending registrations until they are exchanged', async () => {
    const wordpress = service.host.site()
    const { registration_id } = (await service.register(wordpress)).body
    const pending = async () =>
      (await get('/registrations?limit=100')).body.items.map(
        (item: { registration_id: string }) => item.registration_id,
      )
    expect(await pending()).toContain(registration_id)
    await service.exchange(wordpress)
    expect(await pending()).not.toContain(registration_id)
  })

  test('list security events by type, by site and by time', async () => {
    const site = await service.connected()
    await service.call('GET', '/site', { token: 'guess' })
    const home = 'https://clone.example.org'
    await service.signed(site, 'GET', '/site', undefined, { home })
    const failures = (await get('/security-events?type=auth_failure')).body.items
    expect(failures[0]).toMatchObject({ event_type: 'auth_failure', site_id: 'unknown' })
    const own = (await get(`/security-events?site_id=${site.site_id}`)).body.items
    expect(own).toMatchObject([{ event_type: 'suspicious_activity', domain: site.domain }])
    const later = new Date(service.clock.now() + 1000).toISOString()
    expect((await get(`/security-events?type=auth_failure&from=${later}`)).body.items).toEqual([])
  })

  test('list rate limit overrides', async () => {
    const { site_id } = await service.connected()
    const body = { limits: { day: 7 } }
    await service.call('PUT', `/rate-limits/webhook/${site_id}`, { token: service.operator, body })
    const { items } = (await get('/rate-limits')).body
    expect(items.filter(({ scope }: { scope: string }) => scope === 'webhook')).toMatchObject([
      { id: site_id, limits: { day: 7 } },
    ])
  })

  describe('every route', () => {
    const document = () =>
      service.app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: '', version: '' } })
    const routes = () =>
      Object.entries(document().paths ?? {}).flatMap(([path, methods]) =>
        Object.entries(methods as Record<string, Record<string, unknown>>).map(
          ([method, route]) => ({
            method: method.toUpperCase(),
            path: path.replace('/form-bridge/v1', ''),
            need: String(route[PERMISSION]),
          }),
        ),
      )
    const filled = (path: string) =>
      path
        .replace('{site_id}', 'site_0123456789abcdef')
        .replace('{agency_id}', 'agency_0123456789abcdef')
        .replace('{action}', 'suspend')
        .replace('{scope}', 'api')
        .replace('{type}', 'api_abuse')
        .replace('{slug}', 'form-bridge')
        .replace('{version}', '1.0.0')
        .replace('{id}', 'a'.repeat(64))

    test('for sites documents each header that a signature needs', async () => {
      const { paths = {} } = document()
      const headersOf = (path: string, method: 'get' | 'post') =>
        (paths[`/form-bridge/v1${path}`]?.[method]?.parameters ?? []) as Parameter[]
      const summary = (headers: Parameter[]) =>
        headers.map(({ name, in: place, required }) => [name, place, required])
      const all = (required: boolean) =>
        ['X-FB-Site', 'X-FB-Timestamp', 'X-FB-Nonce'].map((name) => [name, 'header', required])
      for (const path of ['/site/heartbeat', '/site/rotate', '/site/disconnect', '/webhook'])
        expect(summary(headersOf(path, 'post'))).toEqual(all(true))
      expect(summary(headersOf('/site', 'get'))).toEqual(all(false))
      for (const { example, schema } of headersOf('/webhook', 'post'))
        expect(example).toMatch(new RegExp(schema.pattern))
      // They are documented but not validated, so a request without them gets the authentication error.
      expect((await service.call('POST', '/webhook', { body: {} })).code).toBe(
        'form-bridge.unauthorized',
      )
    })

    test('declares who may call it', () => {
      const needs = routes().map(({ need }) => need)
      expect(needs.length).toBeGreaterThan(35)
      expect(new Set(needs)).toEqual(
        new Set([
          'public',
          'site',
          'agency',
          'operator:viewer',
          'operator:editor',
          'operator:admin',
        ]),
      )
      const open = routes().filter(({ need }) => need === 'public')
      expect(open.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
        'GET /plugins/{slug}',
        'GET /plugins/{slug}/{version}/download',
        'GET /updates/check',
        'POST /exchange',
        'POST /register',
        'POST /validate',
      ])
    })

    test('rejects every other caller, whatever else that caller may do', async () => {
      const site = await service.connected()
      const { api_key: agency } = await service.agency()
      const tokens: Record<string, string | undefined> = {
        nobody: undefined,
        nonsense: 'nonsense',
        site: site.api_key,
        secret: site.webhook_secret,
        agency,
        operator: service.operator,
      }
      for (const { method, path, need } of routes()) {
        if (need === 'public') continue
        for (const [who, token] of Object.entries(tokens)) {
          if (who === need.split(':')[0]) continue
          const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} }
          const response = await service.call(method, filled(path), { token, ...body })
          expect([`${method} ${path} ${who}`, response.status]).toEqual([
            `${method} ${path} ${who}`,
            401,
          ])
        }
        if (need === 'site') continue
        const signed = await service.signed(
          site,
          method,
          filled(path),
          method === 'GET' ? undefined : {},
        )
        expect([path, signed.status]).toEqual([path, 401])
      }
    }, 60_000)
  })
})
