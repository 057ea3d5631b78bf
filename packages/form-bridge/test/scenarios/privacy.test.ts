import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { formBridgeTable } from '../../src/tables.ts'
import { createTestService } from '../support/test-service.ts'

describe.each(serviceStores())('stored data on $name', (store) => {
  const service = createTestService(store)
  const everything = async () => {
    const { Items = [] } = await service.db.scan({
      TableName: formBridgeTable.name,
      ConsistentRead: true,
    })
    return Items
  }

  test('contains no address, only keyed hashes of networks, equal for one network', async () => {
    const peer = '198.51.100.77'
    const wordpress = service.host.site()
    await service.register(wordpress, {}, peer)
    await service.exchange(wordpress, { temp_key: 'wrong' }, peer)
    await service.call('GET', '/site', { token: 'guess', peer })
    const stored = await everything()
    expect(JSON.stringify(stored)).not.toContain(peer)
    const hashes = stored.flatMap(({ client_ip }) =>
      typeof client_ip === 'string' ? [client_ip] : [],
    )
    expect(hashes.length).toBeGreaterThan(1)
    expect(new Set(hashes).size).toBe(1)
    expect(hashes[0]).toMatch(/^ip_[A-Za-z0-9_-]{22}$/)
  })

  test('uses the address of the connection and not a header that any client can send', async () => {
    const wordpress = service.host.site()
    const body = { site_url: wordpress.url, wp_version: '6.8', plugin_version: '1.0.0' }
    const register = (forwarded: string) =>
      service.call('POST', '/register', {
        body,
        peer: '198.51.100.78',
        headers: { 'x-forwarded-for': forwarded },
      })
    const ids = [(await register('1.1.1.1')).body, (await register('2.2.2.2')).body]
    const stored = await Promise.all(
      ids.map(({ registration_id }) =>
        service.stores.registrations.get({ domain: wordpress.domain, registration_id }),
      ),
    )
    expect(stored[0]?.client_ip).toBe(stored[1]?.client_ip)
  })

  test('has an email address only if it was sent, and only for an hour', async () => {
    const wordpress = service.host.site()
    const { registration_id } = (
      await service.register(wordpress, { admin_email: 'ada@example.org' })
    ).body
    const name = { domain: wordpress.domain, registration_id }
    const { ttl } = (await service.stores.registrations.get(name)) ?? {}
    expect(ttl).toBe(Math.floor(service.clock.now() / 1000) + 3600)
    await service.exchange(wordpress)
    const site = await service.stores.sites.findByDomain(wordpress.domain)
    expect(JSON.stringify(site)).not.toContain('ada@')
    service.clock.advance({ hours: 1 })
    expect(await service.stores.registrations.get(name)).toBeUndefined()
  })

  test('expires as specified: registrations, events, counts, validations', async () => {
    const wordpress = service.host.site()
    await service.register(wordpress)
    await service.exchange(wordpress, { temp_key: 'wrong' })
    await service.call('POST', '/validate', {
      body: {
        registration_id: wordpress.pending?.registration_id,
        temp_key: wordpress.pending?.temp_key,
        site_url: wordpress.url,
      },
    })
    const now = Math.floor(service.clock.now() / 1000)
    const left = (prefix: string) => async () =>
      (await everything())
        .filter(({ PK, ttl }) => String(PK).startsWith(prefix) && Number(ttl) > now)
        .map(({ ttl }) => Number(ttl) - now)
    expect(Math.max(...(await left('FAILED#')()))).toBe(30 * 86_400)
    expect(Math.max(...(await left('VALIDATION#')()))).toBe(86_400)
    expect(Math.max(...(await left(`SITE#${wordpress.domain}`)()))).toBe(3600)
    expect(Math.max(...(await left('RATE#registration#')()))).toBe(600)
    for (const scope of ['registration_domain', 'key_exchange', 'validation_share'])
      expect(Math.max(...(await left(`RATE#${scope}#`)())), scope).toBe(7200)
  })

  test('contains no key, token or secret in plain text', async () => {
    const { api_key: agencyKey } = await service.agency()
    const join_token = await service.joinToken(agencyKey)
    const site = await service.connected({ join_token })
    const rotated = (await service.signed(site, 'POST', '/site/rotate', {})).body
    const stored = JSON.stringify(await everything())
    const shown = [
      agencyKey,
      join_token,
      site.api_key,
      site.webhook_secret,
      site.wordpress.pending?.temp_key ?? '',
      rotated.api_key,
      rotated.webhook_secret,
    ]
    for (const secret of shown) expect(stored).not.toContain(secret)
    const logged = service.logged.join('')
    for (const secret of [...shown, site.site_id, site.domain]) expect(logged).not.toContain(secret)
  })
})
