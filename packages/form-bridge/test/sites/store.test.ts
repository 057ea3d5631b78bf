import { expect, test } from 'vitest'
import { newSiteId } from '../../src/sites/item.ts'
import { onServiceStores } from '../support/on-every-store.ts'
import { newDomain, newKeys } from '../support/test-stores.ts'

onServiceStores('a site', (newStores) => {
  test('is found by domain and site id, by domain alone, and by site id while it is active', async () => {
    const { connectedSite, sites } = newStores()
    const site = await connectedSite()
    expect(await sites.get(site)).toEqual(site)
    expect(await sites.findByDomain(site.domain)).toEqual(site)
    expect(await sites.findActive(site.site_id)).toEqual(site)
    expect(await sites.get({ domain: site.domain, site_id: newSiteId() })).toBeUndefined()
    expect(await sites.findByDomain(newDomain())).toBeUndefined()
    expect(await sites.findActive(newSiteId())).toBeUndefined()
  })

  test('in a subdirectory is separate from the site of the host', async () => {
    const { connectedSite, sites } = newStores()
    const host = newDomain()
    const [root, shop] = [await connectedSite(host), await connectedSite(`${host}/shop`)]
    expect(await sites.findByDomain(host)).toEqual(root)
    expect(await sites.findByDomain(`${host}/shop`)).toEqual(shop)
  })

  test('that is suspended is in the list of suspended sites and not found as active', async () => {
    const { connectedSite, sites, raw } = newStores()
    const site = await connectedSite()
    const { domain, site_id } = site
    expect(await sites.suspend(site)).toBe(true)
    expect(await raw(site.PK, site.SK)).toEqual({
      ...site,
      status: 'suspended',
      GSI1SK: 'SUSPENDED',
      GSI2PK: 'SITES#suspended',
    })
    expect(await sites.findActive(site_id)).toBeUndefined()
    const listed = async (status: 'active' | 'suspended') =>
      (await sites.list(status, { limit: 1_000 })).items.filter((item) => item.domain === domain)
    expect(await listed('active')).toEqual([])
    expect(await listed('suspended')).toMatchObject([{ site_id }])
  })

  test('changes from active to suspended and back, and from both to disabled, which is final', async () => {
    const { connectedSite, sites } = newStores()
    const site = await connectedSite()
    expect(await sites.resume(site)).toBe(false)
    expect(await sites.suspend(site)).toBe(true)
    expect(await sites.suspend(site)).toBe(false)
    expect(await sites.resume(site)).toBe(true)
    expect(await sites.get(site)).toEqual(site)
    expect(await sites.suspend(site)).toBe(true)
    expect(await sites.disable(site)).toEqual({ kind: 'disabled' })
    expect(await sites.suspend(site)).toBe(false)
    expect(await sites.resume(site)).toBe(false)
    expect(await sites.disable(site)).toEqual({ kind: 'already_disabled' })
    expect(await sites.get(site)).toMatchObject({
      status: 'disabled',
      GSI1SK: 'DISABLED',
      GSI2PK: 'SITES#disabled',
    })
    const active = await connectedSite()
    expect(await sites.disable(active)).toEqual({ kind: 'disabled' })
  })

  test('is not disabled with keys that a rotation replaced after they were read', async () => {
    const { connectedSite, credentials, sites } = newStores()
    const site = await connectedSite()
    await credentials.rotate(site, newKeys(), 3600)
    expect(await sites.disable(site, site)).toEqual({ kind: 'keys_changed' })
    expect(await sites.get(site)).toMatchObject({ status: 'active', key_version: 2 })
    expect(await sites.disable(site, { key_version: 2 })).toEqual({ kind: 'disabled' })
  })

  test('that is disabled frees its domain for a new site', async () => {
    const { connectedSite, sites, listSitesOfDomain } = newStores()
    const old = await connectedSite()
    await sites.disable(old)
    expect(await sites.findByDomain(old.domain)).toBeUndefined()
    const next = await connectedSite(old.domain)
    expect(next.site_id).not.toBe(old.site_id)
    expect(await sites.findByDomain(old.domain)).toEqual(next)
    expect(await listSitesOfDomain(old.domain)).toHaveLength(2)
    // Disabling the old site again must not take the domain from the new one.
    expect(await sites.disable(old)).toEqual({ kind: 'already_disabled' })
    expect(await sites.findByDomain(old.domain)).toEqual(next)
  })

  test('that does not exist is not created by a status change or a request', async () => {
    const { sites, raw } = newStores()
    const unknown = { domain: newDomain(), site_id: newSiteId() }
    expect(await sites.suspend(unknown)).toBe(false)
    expect(await sites.resume(unknown)).toBe(false)
    expect(await sites.disable(unknown)).toEqual({ kind: 'already_disabled' })
    expect(await sites.recordRequests(unknown, { requests: 1, remaining: 9 })).toBe(false)
    expect(await raw(`SITE#${unknown.domain}`, `CREDS#${unknown.site_id}`)).toBeUndefined()
  })

  test('has a request count and the time when it was last seen', async () => {
    const { connectedSite, sites, clock } = newStores()
    const site = await connectedSite()
    clock.advance({ minutes: 1 })
    await sites.recordRequests(site, { requests: 3, remaining: 97 })
    await sites.recordRequests(site, { requests: 2, remaining: 95 })
    expect(await sites.get(site)).toEqual({
      ...site,
      last_seen: '2100-01-01T00:01:00.000Z',
      request_count: 5,
      rate_limit_remaining: 95,
    })
  })

  test('has its keys listed by site id', async () => {
    const { connectedSite, sites, raw } = newStores()
    const { site_id, api_key_hash } = await connectedSite()
    expect(await sites.listApiKeys(site_id)).toEqual([await raw(`API#${api_key_hash}`, 'LOOKUP')])
  })
})
