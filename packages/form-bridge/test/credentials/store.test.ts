import { expect, test } from 'vitest'
import { onServiceStores } from '../support/on-every-store.ts'
import { newDomain, newHash, newKeys, START } from '../support/test-stores.ts'

onServiceStores('new keys', (newStores) => {
  test('by rotation keep the old key and secret valid for the grace period', async () => {
    const { connectedSite, sites, raw, credentials } = newStores()
    const site = await connectedSite()
    const keys = newKeys()
    expect(await credentials.rotate(site, keys, 3600)).toMatchObject({ kind: 'rotated' })
    expect(await sites.get(site)).toEqual({
      ...site,
      ...keys,
      key_version: 2,
      previous_webhook_secret: site.webhook_secret,
      previous_valid_until: '2100-01-01T01:00:00.000Z',
    })
    expect(await raw(`API#${site.api_key_hash}`, 'LOOKUP')).toMatchObject({
      key_version: 1,
      expires_at: '2100-01-01T01:00:00.000Z',
      ttl: START + 3600,
    })
    expect(await raw(`API#${keys.api_key_hash}`, 'LOOKUP')).not.toHaveProperty('ttl')
  })

  test('by two consecutive rotations keep each old key for its own grace period', async () => {
    const { connectedSite, sites, authentication, credentials } = newStores()
    const site = await connectedSite()
    await credentials.rotate(site, newKeys(), 3600)
    const second = await sites.get(site)
    expect(second && (await credentials.rotate(second, newKeys(), 3600))).toMatchObject({
      kind: 'rotated',
    })
    expect(await authentication.findSiteByApiKey(site.api_key_hash)).toBeDefined()
    expect(await authentication.findSiteByApiKey(second?.api_key_hash ?? '')).toBeDefined()
  })

  test('by rotation without a grace period revoke all older keys, including those in a grace period', async () => {
    const { connectedSite, sites, authentication, credentials } = newStores()
    const site = await connectedSite()
    await credentials.rotate(site, newKeys(), 3600)
    const second = await sites.get(site)
    const keys = newKeys()
    expect(second && (await credentials.rotate(second, keys, 0))).toMatchObject({ kind: 'rotated' })
    expect(await authentication.findSiteByApiKey(site.api_key_hash)).toBeUndefined()
    expect(await authentication.findSiteByApiKey(second?.api_key_hash ?? '')).toBeUndefined()
    const now = await authentication.findSiteByApiKey(keys.api_key_hash)
    expect(now?.site).not.toHaveProperty('previous_webhook_secret')
  })

  test('are not issued to a suspended site, or to one whose keys have changed since it was read', async () => {
    const { connectedSite, sites, raw, credentials } = newStores()
    const site = await connectedSite()
    await credentials.rotate(site, newKeys(), 3600)
    const late = newKeys()
    expect(await credentials.rotate(site, late, 3600)).toEqual({ kind: 'conflict' })
    expect(await raw(`API#${late.api_key_hash}`, 'LOOKUP')).toBeUndefined()
    const now = await sites.get(site)
    await sites.suspend(site)
    expect(now && (await credentials.rotate(now, newKeys(), 3600))).toEqual({ kind: 'conflict' })
  })

  test('by reconnecting keep the site id and revoke all older keys', async () => {
    const { connectedSite, register, authentication, clock, credentials, listSitesOfDomain } =
      newStores()
    const site = await connectedSite()
    clock.advance({ days: 3 })
    const registration = await register(site.domain)
    const keys = newKeys()
    expect(await credentials.reconnect(registration, site, keys)).toEqual({ kind: 'reconnected' })
    expect(await authentication.findSiteByApiKey(site.api_key_hash)).toBeUndefined()
    expect((await authentication.findSiteByApiKey(keys.api_key_hash))?.site).toEqual({
      ...site,
      ...keys,
      activated_at: '2100-01-04T00:00:00.000Z',
      key_version: 2,
      oldest_key_version: 2,
    })
    expect(await listSitesOfDomain(site.domain)).toHaveLength(1)
    expect(await credentials.reconnect(registration, site, newKeys())).toEqual({
      kind: 'refused',
      reason: 'registration',
    })
  })

  test('by reconnecting are not issued to a suspended site, and the registration stays pending', async () => {
    const { connectedSite, register, registrations, sites, credentials } = newStores()
    const site = await connectedSite()
    await sites.suspend(site)
    const registration = await register(site.domain)
    expect(await credentials.reconnect(registration, site, newKeys())).toEqual({
      kind: 'refused',
      reason: 'site',
    })
    expect((await registrations.get(registration))?.status).toBe('pending')
  })

  test('are not issued for the temporary key of another registration', async () => {
    const { register, newSite, credentials } = newStores()
    const registration = await register()
    const guessed = { ...registration, temp_key: newHash() }
    expect(await credentials.connect(guessed, newSite())).toEqual({
      kind: 'refused',
      reason: 'registration',
    })
  })

  test('by moving keep the site id at the new domain, and free the old domain', async () => {
    const { connectedSite, register, authentication, sites, siteMoves, listSitesOfDomain } =
      newStores()
    const site = await connectedSite()
    const registration = await register(newDomain())
    const keys = newKeys()
    const outcome = await siteMoves.move(registration, site, keys)
    expect(outcome).toMatchObject({ kind: 'moved' })
    const moved = await authentication.findSiteById(site.site_id)
    expect(moved).toMatchObject({ domain: registration.domain, ...keys, key_version: 2 })
    expect(await sites.findByDomain(registration.domain)).toEqual(moved)
    expect((await authentication.findSiteByApiKey(keys.api_key_hash))?.site).toEqual(moved)
    expect(await authentication.findSiteByApiKey(site.api_key_hash)).toBeUndefined()
    expect(await listSitesOfDomain(site.domain)).toEqual([])
    expect((await connectedSite(site.domain)).site_id).not.toBe(site.site_id)
  })

  test('by moving are not issued for a domain that has a site', async () => {
    const { connectedSite, register, sites, siteMoves } = newStores()
    const [site, other] = [await connectedSite(), await connectedSite()]
    const registration = await register(other.domain)
    expect(await siteMoves.move(registration, site, newKeys())).toEqual({
      kind: 'refused',
      reason: 'domain',
    })
    const own = await register(site.domain)
    expect(await siteMoves.move(own, site, newKeys())).toEqual({
      kind: 'refused',
      reason: 'domain',
    })
    expect(await sites.get(site)).toEqual(site)
  })
})
