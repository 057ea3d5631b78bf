/** What others change while a site moves, ends or leaves. */
import { type Db, eachOperation } from '@strongroom/kit/db'
import { hostileDb } from '@strongroom/kit/testing/hostile-db'
import { describe, expect, test } from 'vitest'
import { createSiteDesk } from '../src/administration/site-desk.ts'
import { sitePlaceKey } from '../src/items/agency-site.ts'
import type { NewPlace, Reconnected } from '../src/store/connections.ts'
import { createDataLayer } from '../src/store/data-layer.ts'
import { createSites } from '../src/store/sites.ts'
import { formBridgeTable } from '../src/table.ts'
import { onServiceStores, onServiceStoresAndHostile } from './on-every-store.ts'
import { newKeys, times, type World } from './world.ts'

const hostility = { conflict: 0.2, throttle: 0.2, staleIndex: 0.5 }

/** A site with a place in an agency. */
async function member({ agency, agencies, connectedSite }: World, max_sites = 5) {
  const [{ agency_id }, site] = [await agency(max_sites), await connectedSite()]
  const { site_id, domain } = site
  await agencies.join({ agency_id, site_id, domain, role: 'member' })
  return { agency_id, site_id, site }
}

onServiceStoresAndHostile('a site that moves', hostility, (world) => {
  test('takes along what was changed after it was read', async () => {
    const { connectedSite, connections, register, sites } = world()
    const site = await connectedSite()
    await sites.setDestination(site, 'AgR4before')
    const read = await sites.get(site)
    if (!read) throw new Error('There is one')
    await sites.setDestination(site, 'AgR4after')
    await sites.noteState(site, { environment: 'staging', telemetry: { wp_version: '6.8' } })
    await sites.touch(site, { requests: 7, remaining: 3 })
    const { domain } = await register()
    const outcome = await connections.move(await register(domain), read, newKeys())
    expect(outcome).toMatchObject({ moved: true })
    expect(await sites.ofDomain(domain)).toMatchObject({
      destination: 'AgR4after',
      environment: 'staging',
      telemetry: { wp_version: '6.8' },
      request_count: 7,
      rate_limit_remaining: 3,
    })
  })

  test('loses nothing of what others say at the same moment that they have written', async () => {
    const { connectedSite, connections, register, sites, authentication } = world()
    const site = await connectedSite()
    const move = connections.move(await register(), site, newKeys())
    const counted = await Promise.all(
      times(10, () => sites.touch(site, { requests: 1, remaining: 3 })),
    )
    const isSet = await sites.setDestination(site, 'AgR4after')
    expect(await move).toMatchObject({ moved: true })
    const moved = await authentication.siteOfId(site.site_id)
    expect(moved?.request_count).toBe(counted.filter(Boolean).length)
    expect(moved?.destination).toBe(isSet ? 'AgR4after' : undefined)
    expect(await sites.get(site)).toBeUndefined()
  })

  test('does not move once its keys or its status have changed', async () => {
    const { connectedSite, connections, register, rotation, sites } = world()
    const refused = { moved: false, refused: 'site' }
    const rotated = await connectedSite()
    await rotation.rotate(rotated, newKeys(), 3600)
    expect(await connections.move(await register(), rotated, newKeys())).toEqual(refused)
    const suspended = await connectedSite()
    await sites.suspend(suspended)
    expect(await connections.move(await register(), suspended, newKeys())).toEqual(refused)
    expect(await sites.ofDomain(suspended.domain)).toMatchObject({ status: 'suspended' })
  })

  test('of five moves at once takes one, with its place', async () => {
    const its = world()
    const { connections, register, agencies, authentication } = its
    const { agency_id, site_id, site } = await member(its)
    const claims = await Promise.all(times(5, () => register()))
    const outcomes = await Promise.all(
      claims.map((claim) => connections.move(claim, site, newKeys())),
    )
    expect(outcomes.filter(({ moved }) => moved)).toHaveLength(1)
    const { domain } = (await authentication.siteOfId(site_id)) ?? {}
    expect((await agencies.sites(agency_id)).items).toMatchObject([{ site_id, domain }])
  })
})

onServiceStoresAndHostile('a place in an agency', hostility, (world) => {
  test('is given back once by a site that ends while it leaves and is taken out of the limit', async () => {
    const its = world()
    const { agencies, sites } = its
    const { agency_id, site_id, site } = await member(its)
    await agencies.join({
      agency_id,
      site_id: (await its.connectedSite()).site_id,
      domain: 'other.example',
      role: 'member',
    })
    const ended = await Promise.all([
      ...times(5, () => sites.disable(site)),
      agencies.leave({ agency_id, site_id }).then(() => false),
      agencies.setOutsideLimit({ agency_id, site_id }, true).then(() => false),
    ])
    expect(ended.filter(Boolean)).toHaveLength(1)
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 1 })
    expect(await its.places.of(site_id)).toEqual([])
  })

  test('that is taken out of the limit while its site leaves is not given back twice', async () => {
    const its = world()
    const { agencies } = its
    const { agency_id, site_id } = await member(its)
    const others = await Promise.all(times(3, () => its.connectedSite()))
    for (const other of others) {
      await agencies.join({
        agency_id,
        site_id: other.site_id,
        domain: other.domain,
        role: 'member',
      })
    }
    const name = { agency_id, site_id }
    const [left] = await Promise.all([agencies.leave(name), agencies.setOutsideLimit(name, true)])
    expect(left).toBe(true)
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 3 })
  })
})

onServiceStores('a site that ends while it is connected again', (world) => {
  test.each([0, 1, 2, 3])(
    'keeps no place that it gets after %i steps of its end',
    async (steps) => {
      const its = world()
      const { clock, connections, agencies, authentication } = its
      const site = await its.connectedSite()
      const { agency_id } = await its.agency()
      const { token_hash } = await its.joinToken(agency_id, 1)
      const claim = await its.register(site.domain)
      const agency: NewPlace = { agency_id, role: 'member', join_token_hash: token_hash }
      const reconnect = () => connections.reconnect(claim, site, newKeys(), { agency })
      let reconnected: Reconnected | undefined
      const meanwhile = before(its.db, steps, async () => (reconnected = await reconnect()))
      expect(await createSites({ db: meanwhile, clock }).disable(site)).toBe(true)
      expect(reconnected).toEqual({ connected: true })
      expect(await authentication.siteOfId(site.site_id)).toMatchObject({ status: 'disabled' })
      expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 0 })
      expect((await agencies.sites(agency_id)).items).toEqual([])
    },
  )
})

onServiceStores('a membership without an item for its place', (world) => {
  test('is a place of the site all the same, and is given back with it', async () => {
    const its = world()
    const { agency_id, site_id, site } = await member(its)
    const { PK, SK } = sitePlaceKey({ agency_id, site_id })
    await its.db.deleteItem({ TableName: formBridgeTable.name, Key: { PK, SK } })
    expect(await its.places.of(site_id)).toMatchObject([{ agency_id }])
    expect(await its.sites.disable(site)).toBe(true)
    expect(await its.agencies.get(agency_id)).toMatchObject({ current_sites: 0 })
    expect(await its.places.of(site_id)).toEqual([])
  })
})

onServiceStores('a site that an operator disables', (world) => {
  const deskOn = (db: Db, { clock }: World) => {
    const layer = createDataLayer({ db, clock })
    return createSiteDesk({ ...layer, checks: layer.updateChecks })
  }

  describe.each([0, 1, 2, 3])('by a process that dies after %i writes', (writes) => {
    test('gives back its place, at once or when it is disabled again', async () => {
      const its = world()
      const { agency_id, site_id } = await member(its)
      const dying = deskOn(dyingAfter(its.db, writes), its)
      await dying.disable(site_id).catch(() => 'died')
      const isDone = (await deskOn(its.db, its).show(site_id)).status === 'disabled'
      if (!isDone) await deskOn(its.db, its).disable(site_id)
      expect(await its.agencies.get(agency_id)).toMatchObject({ current_sites: 0 })
      expect((await its.agencies.sites(agency_id)).items).toEqual([])
    })
  })

  test('gives back its place even if no index knows of it yet', async () => {
    const its = world()
    const { agency_id, site_id } = await member(its)
    const behind = hostileDb(its.db, { seed: 1, staleIndex: 1 })
    expect(await deskOn(behind, its).disable(site_id)).toMatchObject({
      status: 'disabled',
      agencies: [],
    })
    expect(await its.agencies.get(agency_id)).toMatchObject({ current_sites: 0 })
  })
})

/** Something happens after so many operations, once. */
function before(db: Db, operations: number, happens: () => Promise<unknown>): Db {
  let left = operations
  return eachOperation((name) => async (input) => {
    if (left-- === 0) await happens()
    return db[name](input)
  })
}

/** Lets so many writes through and then none. */
function dyingAfter(db: Db, writes: number): Db {
  let left = writes
  return eachOperation((name) => async (input) => {
    if (/^(put|update|delete|transactWrite|batchWrite)/.test(name) && left-- <= 0)
      throw new Error('The process has died')
    return db[name](input)
  })
}
