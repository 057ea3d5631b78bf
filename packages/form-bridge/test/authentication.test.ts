import type { Db } from '@strongroom/kit/db'
import { expect, test } from 'vitest'
import { newSiteId } from '../src/items/site.ts'
import { onServiceStores } from './on-every-store.ts'
import { createWorld, hash, newDomain, newHash, newKeys, START, type World } from './world.ts'

/** A world in which every read by an index, and every read that may be behind, is a failure. */
function withoutIndexes({ db, clock }: World): { strict: World; reads: () => number } {
  let reads = 0
  const refuse = () => Promise.reject(new Error('Authentication must not query'))
  const strictDb: Db = {
    ...db,
    query: refuse,
    scan: refuse,
    getItem(input) {
      reads++
      if (!input.ConsistentRead) throw new Error('Authentication must read consistently')
      return db.getItem(input)
    },
  }
  return { strict: createWorld(strictDb, clock), reads: () => reads }
}

onServiceStores('authentication', (world) => {
  test('by API key is two consistent reads of the table and no index', async () => {
    const here = world()
    const site = await here.connectedSite()
    const { strict, reads } = withoutIndexes(here)
    expect(await strict.authentication.siteOfApiKey(site.api_key_hash)).toMatchObject({ site })
    expect(reads()).toBe(2)
  })

  test('by the site id of a signed request is two consistent reads of the table and no index', async () => {
    const here = world()
    const site = await here.connectedSite()
    const { strict, reads } = withoutIndexes(here)
    expect(await strict.authentication.siteOfId(site.site_id)).toEqual(site)
    expect(reads()).toBe(2)
  })

  test('of an agency is two consistent reads of the table and no index', async () => {
    const here = world()
    const agency = await here.agency()
    const { strict, reads } = withoutIndexes(here)
    expect(await strict.agencies.ofKey(agency.api_key_hash)).toEqual(agency)
    expect(reads()).toBe(2)
  })

  test('knows neither a foreign key nor a foreign site id', async () => {
    const { authentication, agencies, agency } = world()
    const { api_key_hash } = await agency()
    expect(await authentication.siteOfApiKey(newHash())).toBeUndefined()
    expect(await authentication.siteOfApiKey(api_key_hash)).toBeUndefined()
    expect(await authentication.siteOfId(newSiteId())).toBeUndefined()
    expect(await agencies.ofKey(newHash())).toBeUndefined()
  })

  test('sees at once that a site was suspended', async () => {
    const { authentication, connectedSite, sites } = world()
    const site = await connectedSite()
    await sites.suspend(site)
    expect((await authentication.siteOfApiKey(site.api_key_hash))?.site.status).toBe('suspended')
    expect((await authentication.siteOfId(site.site_id))?.status).toBe('suspended')
  })

  test('takes a nonce once for each site and time', async () => {
    const { authentication } = world()
    const nonce = hash('nonce').slice(0, 32)
    const moment = { site_id: newSiteId(), timestamp: START, nonce }
    expect(await authentication.useNonce(moment)).toBe(true)
    expect(await authentication.useNonce(moment)).toBe(false)
    expect(await authentication.useNonce({ ...moment, site_id: newSiteId() })).toBe(true)
    expect(await authentication.useNonce({ ...moment, timestamp: START + 1 })).toBe(true)
  })

  test('notes when a key was last used, and makes no key of one that is not there', async () => {
    const { authentication, connectedSite, clock, raw } = world()
    const { api_key_hash } = await connectedSite()
    clock.advance({ minutes: 5 })
    expect(await authentication.touchApiKey(api_key_hash)).toBe(true)
    expect((await authentication.siteOfApiKey(api_key_hash))?.key).toMatchObject({
      created_at: '2100-01-01T00:00:00.000Z',
      last_used: '2100-01-01T00:05:00.000Z',
    })
    const unknown = newHash()
    expect(await authentication.touchApiKey(unknown)).toBe(false)
    expect(await raw(`API#${unknown}`, 'LOOKUP')).toBeUndefined()
  })
})

onServiceStores('new keys', (world) => {
  test('by rotation leave the old key and the old secret good for the grace period', async () => {
    const { connectedSite, rotation, sites, raw } = world()
    const site = await connectedSite()
    const keys = newKeys()
    expect(await rotation.rotate(site, keys, 3600)).toBe(true)
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

  test('by two rotations in a row leave each old key its own grace period', async () => {
    const { connectedSite, rotation, sites, authentication } = world()
    const site = await connectedSite()
    await rotation.rotate(site, newKeys(), 3600)
    const second = await sites.get(site)
    expect(second && (await rotation.rotate(second, newKeys(), 3600))).toBe(true)
    expect(await authentication.siteOfApiKey(site.api_key_hash)).toBeDefined()
    expect(await authentication.siteOfApiKey(second?.api_key_hash ?? '')).toBeDefined()
  })

  test('by rotation without grace end all older keys, also those in a grace period', async () => {
    const { connectedSite, rotation, sites, authentication } = world()
    const site = await connectedSite()
    await rotation.rotate(site, newKeys(), 3600)
    const second = await sites.get(site)
    const keys = newKeys()
    expect(second && (await rotation.rotate(second, keys, 0))).toBe(true)
    expect(await authentication.siteOfApiKey(site.api_key_hash)).toBeUndefined()
    expect(await authentication.siteOfApiKey(second?.api_key_hash ?? '')).toBeUndefined()
    const now = await authentication.siteOfApiKey(keys.api_key_hash)
    expect(now?.site).not.toHaveProperty('previous_webhook_secret')
  })

  test('are not given to a site whose keys have changed since it was read, or that is suspended', async () => {
    const { connectedSite, rotation, sites, raw } = world()
    const site = await connectedSite()
    await rotation.rotate(site, newKeys(), 3600)
    const late = newKeys()
    expect(await rotation.rotate(site, late, 3600)).toBe(false)
    expect(await raw(`API#${late.api_key_hash}`, 'LOOKUP')).toBeUndefined()
    const now = await sites.get(site)
    await sites.suspend(site)
    expect(now && (await rotation.rotate(now, newKeys(), 3600))).toBe(false)
  })

  test('by reconnecting keep the site id and end all older keys', async () => {
    const { connectedSite, register, connections, authentication, sites, clock } = world()
    const site = await connectedSite()
    clock.advance({ days: 3 })
    const registration = await register(site.domain)
    const keys = newKeys()
    expect(await connections.reconnect(registration, site, keys)).toEqual({ connected: true })
    expect(await authentication.siteOfApiKey(site.api_key_hash)).toBeUndefined()
    expect((await authentication.siteOfApiKey(keys.api_key_hash))?.site).toEqual({
      ...site,
      ...keys,
      activated_at: '2100-01-04T00:00:00.000Z',
      key_version: 2,
      oldest_key_version: 2,
    })
    expect(await sites.allOfDomain(site.domain)).toHaveLength(1)
    expect(await connections.reconnect(registration, site, newKeys())).toEqual({
      connected: false,
      refused: 'registration',
    })
  })

  test('by reconnecting are not given to a suspended site, and the registration stays pending', async () => {
    const { connectedSite, register, registrations, connections, sites } = world()
    const site = await connectedSite()
    await sites.suspend(site)
    const registration = await register(site.domain)
    expect(await connections.reconnect(registration, site, newKeys())).toEqual({
      connected: false,
      refused: 'site',
    })
    expect((await registrations.get(registration))?.status).toBe('pending')
  })

  test('are not given for the temporary key of another registration', async () => {
    const { register, connections, newSite } = world()
    const registration = await register()
    const guessed = { ...registration, temp_key: newHash() }
    expect(await connections.connect(guessed, newSite())).toEqual({
      connected: false,
      refused: 'registration',
    })
  })

  test('by moving take a site with its id to another domain, and the old domain is free', async () => {
    const { connectedSite, register, connections, authentication, sites } = world()
    const site = await connectedSite()
    const registration = await register(newDomain())
    const keys = newKeys()
    const outcome = await connections.move(registration, site, keys)
    expect(outcome).toMatchObject({ moved: true })
    const moved = await authentication.siteOfId(site.site_id)
    expect(moved).toMatchObject({ domain: registration.domain, ...keys, key_version: 2 })
    expect(await sites.ofDomain(registration.domain)).toEqual(moved)
    expect((await authentication.siteOfApiKey(keys.api_key_hash))?.site).toEqual(moved)
    expect(await authentication.siteOfApiKey(site.api_key_hash)).toBeUndefined()
    expect(await sites.allOfDomain(site.domain)).toEqual([])
    expect((await connectedSite(site.domain)).site_id).not.toBe(site.site_id)
  })

  test('by moving are not given for a domain that has a site', async () => {
    const { connectedSite, register, connections, sites } = world()
    const [site, other] = [await connectedSite(), await connectedSite()]
    const registration = await register(other.domain)
    expect(await connections.move(registration, site, newKeys())).toEqual({
      moved: false,
      refused: 'domain',
    })
    const own = await register(site.domain)
    expect(await connections.move(own, site, newKeys())).toEqual({
      moved: false,
      refused: 'domain',
    })
    expect(await sites.get(site)).toEqual(site)
  })
})
