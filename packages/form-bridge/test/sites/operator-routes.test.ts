import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { publish, releaseKey } from '../support/published-plugin.ts'
import { createTestService } from '../support/test-service.ts'

describe.each(serviceStores())('a site for operators on $name', (store) => {
  const service = createTestService(store, { FORM_BRIDGE_RELEASE_KEYS: releaseKey.publicKey })
  const get = (path: string) => service.call('GET', path, { token: service.operator })

  test('has its API keys listed with state and use, without the keys and their hashes', async () => {
    const site = await service.connected()
    const path = `/sites/${site.site_id}/api-keys`
    expect((await get(path)).body.items).toMatchObject([
      { key_version: 1, state: 'current', expires_at: null },
    ])
    service.clock.advance({ minutes: 5 })
    const used = new Date(service.clock.now()).toISOString()
    expect((await service.call('GET', '/site', { token: site.api_key })).status).toBe(200)
    const rotated = await service.signed(site, 'POST', '/site/rotate', { grace_seconds: 600 })
    const states = async () =>
      (await get(path)).body.items.map((key: { state: string }) => key.state)
    await expect.poll(states).toEqual(['current', 'grace'])
    const { items } = (await get(path)).body
    expect(items[1]).toMatchObject({ key_version: 1, last_used: used })
    expect(items[1].expires_at).toBe(rotated.body.previous_valid_until)
    const keys = { ...site, ...rotated.body }
    await service.signed(keys, 'POST', '/site/rotate', { grace_seconds: 0 })
    await expect.poll(states).toEqual(['current', 'revoked'])
    expect(JSON.stringify((await get(path)).body)).not.toMatch(/fb_live|[0-9a-f]{64}/)
    service.clock.advance({ minutes: 10 })
    expect(await states()).toEqual(['current'])
    const missing = await get('/sites/site_0123456789abcdef/api-keys')
    expect(missing).toMatchObject({ status: 404, code: 'form-bridge.site_not_found' })
  })

  test('has its update checks listed page by page, newest first, by time', async () => {
    expect((await publish(service.call, service.operator, '1.2.0')).status).toBe(201)
    const site = await service.connected()
    const times: string[] = []
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
      service.clock.advance({ hours: 1 })
      times.push(new Date(service.clock.now()).toISOString())
      const check = `/updates/check?slug=form-bridge&current_version=${version}`
      expect((await service.signed(site, 'GET', check)).status).toBe(200)
    }
    const path = `/sites/${site.site_id}/update-checks`
    const first = (await get(`${path}?limit=2`)).body
    expect(first.items).toEqual([
      {
        current_version: '1.2.0',
        latest_version: '1.2.0',
        update_available: false,
        checked_at: times[2],
      },
      {
        current_version: '1.1.0',
        latest_version: '1.2.0',
        update_available: true,
        checked_at: times[1],
      },
    ])
    const rest = (await get(`${path}?limit=2&cursor=${first.cursor}`)).body
    expect(rest).toMatchObject({ items: [{ current_version: '1.0.0' }], cursor: null })
    const between = (await get(`${path}?from=${times[1]}&to=${times[1]}`)).body
    expect(between.items).toMatchObject([{ current_version: '1.1.0' }])
    const missing = await get('/sites/site_0123456789abcdef/update-checks')
    expect(missing).toMatchObject({ status: 404, code: 'form-bridge.site_not_found' })
  })
})
