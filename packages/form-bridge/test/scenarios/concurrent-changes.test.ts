/** Concurrent changes while a site moves, is disabled or leaves an agency. */
import { type Db, eachOperation } from '@strongroom/kit/db'
import { hostileDb } from '@strongroom/kit/testing/hostile-db'
import { describe, expect, test } from 'vitest'
import { createSiteAdmin } from '../../src/sites/service.ts'
import { siteMembershipKey } from '../../src/agencies/item.ts'
import type { NewMembership } from '../../src/agencies/membership.ts'
import type { ReconnectOutcome } from '../../src/credentials/store.ts'
import { createStores } from '../../src/stores.ts'
import { createSiteStore } from '../../src/sites/store.ts'
import { formBridgeTable } from '../../src/tables.ts'
import { onServiceStores, onServiceStoresAndHostile } from '../support/on-every-store.ts'
import { newKeys, times, type TestStores } from '../support/test-stores.ts'

const hostility = { conflict: 0.2, throttle: 0.2, staleIndex: 0.5 }

/** A site with a membership in an agency. */
async function member({ agency, connectedSite, joinAgency }: TestStores, max_sites = 5) {
  const [{ agency_id }, site] = [await agency(max_sites), await connectedSite()]
  const { site_id, domain } = site
  await joinAgency({ agency_id, site_id, domain, role: 'member' })
  return { agency_id, site_id, site }
}

onServiceStoresAndHostile('a site that moves', hostility, (newStores) => {
  test('keeps what was changed after it was read', async () => {
    const { connectedSite, register, sites, siteMoves } = newStores()
    const site = await connectedSite()
    await sites.setDestination(site, 'AgR4before')
    const read = await sites.get(site)
    if (!read) throw new Error('There is one')
    await sites.setDestination(site, 'AgR4after')
    await sites.updateReportedState(site, {
      environment: 'staging',
      telemetry: { wp_version: '6.8' },
    })
    await sites.recordRequests(site, { requests: 7, remaining: 3 })
    const { domain } = await register()
    const outcome = await siteMoves.move(await register(domain), read, newKeys())
    expect(outcome).toMatchObject({ kind: 'moved' })
    expect(await sites.findByDomain(domain)).toMatchObject({
      destination: 'AgR4after',
      environment: 'staging',
      telemetry: { wp_version: '6.8' },
      request_count: 7,
      rate_limit_remaining: 3,
    })
  })

  test('loses no concurrent write that was reported as successful', async () => {
    const { connectedSite, register, sites, authentication, siteMoves } = newStores()
    const site = await connectedSite()
    const move = siteMoves.move(await register(), site, newKeys())
    const counted = await Promise.all(
      times(10, () => sites.recordRequests(site, { requests: 1, remaining: 3 })),
    )
    const isSet = await sites.setDestination(site, 'AgR4after')
    expect(await move).toMatchObject({ kind: 'moved' })
    const moved = await authentication.findSiteById(site.site_id)
    expect(moved?.request_count).toBe(counted.filter(Boolean).length)
    expect(moved?.destination).toBe(isSet ? 'AgR4after' : undefined)
    expect(await sites.get(site)).toBeUndefined()
  })

  test('does not move once its keys or its status have changed', async () => {
    const { connectedSite, register, sites, siteMoves, credentials } = newStores()
    const refused = { kind: 'refused', reason: 'site' }
    const rotated = await connectedSite()
    await credentials.rotate(rotated, newKeys(), 3600)
    expect(await siteMoves.move(await register(), rotated, newKeys())).toEqual(refused)
    const suspended = await connectedSite()
    await sites.suspend(suspended)
    expect(await siteMoves.move(await register(), suspended, newKeys())).toEqual(refused)
    expect(await sites.findByDomain(suspended.domain)).toMatchObject({ status: 'suspended' })
  })

  test('moves once, with its membership, if five moves are sent concurrently', async () => {
    const stores = newStores()
    const { siteMoves, register, agencies, authentication } = stores
    const { agency_id, site_id, site } = await member(stores)
    const claims = await Promise.all(times(5, () => register()))
    const outcomes = await Promise.all(
      claims.map((claim) => siteMoves.move(claim, site, newKeys())),
    )
    expect(outcomes.filter(({ kind }) => kind === 'moved')).toHaveLength(1)
    const { domain } = (await authentication.findSiteById(site_id)) ?? {}
    expect((await agencies.listSites(agency_id)).items).toMatchObject([{ site_id, domain }])
  })
})

onServiceStoresAndHostile('a membership', hostility, (newStores) => {
  test('ends once if its site is disabled, leaves and is excluded from the limit concurrently', async () => {
    const stores = newStores()
    const { agencies, sites, joinAgency } = stores
    const { agency_id, site_id, site } = await member(stores)
    await joinAgency({
      agency_id,
      site_id: (await stores.connectedSite()).site_id,
      domain: 'other.example',
      role: 'member',
    })
    const ended = await Promise.all([
      ...times(5, async () => (await sites.disable(site)).kind === 'disabled'),
      agencies.leave({ agency_id, site_id }).then(() => false),
      agencies.setOutsideLimit({ agency_id, site_id }, true).then(() => false),
    ])
    expect(ended.filter(Boolean)).toHaveLength(1)
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 1 })
    expect(await stores.memberships.listBySite(site_id)).toEqual([])
  })

  test('that is excluded from the limit while its site leaves is not subtracted twice', async () => {
    const stores = newStores()
    const { agencies, joinAgency } = stores
    const { agency_id, site_id } = await member(stores)
    const others = await Promise.all(times(3, () => stores.connectedSite()))
    for (const other of others) {
      await joinAgency({
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

onServiceStores('a site that is disabled while it is reconnected', (newStores) => {
  test.each([0, 1, 2, 3])('keeps no membership that is added after %i steps', async (steps) => {
    const stores = newStores()
    const { clock, credentials, agencies, authentication } = stores
    const site = await stores.connectedSite()
    const { agency_id } = await stores.agency()
    const { token_hash } = await stores.joinToken(agency_id, 1)
    const claim = await stores.register(site.domain)
    const agency: NewMembership = { agency_id, role: 'member', join_token_hash: token_hash }
    const reconnect = () => credentials.reconnect(claim, site, newKeys(), { agency })
    let reconnected: ReconnectOutcome | undefined
    const meanwhile = before(stores.db, steps, async () => (reconnected = await reconnect()))
    expect(await createSiteStore({ db: meanwhile, clock }).disable(site)).toEqual({
      kind: 'disabled',
    })
    expect(reconnected).toEqual({ kind: 'reconnected' })
    expect(await authentication.findSiteById(site.site_id)).toMatchObject({ status: 'disabled' })
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 0 })
    expect((await agencies.listSites(agency_id)).items).toEqual([])
  })
})

onServiceStores('a membership without an item in the partition of the site', (newStores) => {
  test('is still a membership of the site, and ends with it', async () => {
    const stores = newStores()
    const { agency_id, site_id, site } = await member(stores)
    const { PK, SK } = siteMembershipKey({ agency_id, site_id })
    await stores.db.deleteItem({ TableName: formBridgeTable.name, Key: { PK, SK } })
    expect(await stores.memberships.listBySite(site_id)).toMatchObject([{ agency_id }])
    expect(await stores.sites.disable(site)).toEqual({ kind: 'disabled' })
    expect(await stores.agencies.get(agency_id)).toMatchObject({ current_sites: 0 })
    expect(await stores.memberships.listBySite(site_id)).toEqual([])
  })
})

onServiceStores('a site that an operator disables', (newStores) => {
  const siteAdminOn = (db: Db, { clock }: TestStores) =>
    createSiteAdmin({ ...createStores({ db, clock }), defaultDestination: undefined })

  describe.each([0, 1, 2, 3])('by a process that dies after %i writes', (writes) => {
    test('leaves its agency, immediately or when it is disabled again', async () => {
      const stores = newStores()
      const { agency_id, site_id } = await member(stores)
      const dying = siteAdminOn(dyingAfter(stores.db, writes), stores)
      await dying.disable(site_id).catch(() => 'died')
      const isDone = (await siteAdminOn(stores.db, stores).get(site_id)).status === 'disabled'
      if (!isDone) await siteAdminOn(stores.db, stores).disable(site_id)
      expect(await stores.agencies.get(agency_id)).toMatchObject({ current_sites: 0 })
      expect((await stores.agencies.listSites(agency_id)).items).toEqual([])
    })
  })

  test('leaves its agency even if the index does not have the membership yet', async () => {
    const stores = newStores()
    const { agency_id, site_id } = await member(stores)
    const behind = hostileDb(stores.db, { seed: 1, staleIndex: 1 })
    expect(await siteAdminOn(behind, stores).disable(site_id)).toMatchObject({
      status: 'disabled',
      agencies: [],
    })
    expect(await stores.agencies.get(agency_id)).toMatchObject({ current_sites: 0 })
  })
})

/** Runs a change once, after a number of operations. */
function before(db: Db, operations: number, happens: () => Promise<unknown>): Db {
  let left = operations
  return eachOperation((name) => async (input) => {
    if (left-- === 0) await happens()
    return db[name](input)
  })
}

/** Allows a number of writes and then fails. */
function dyingAfter(db: Db, writes: number): Db {
  let left = writes
  return eachOperation((name) => async (input) => {
    if (/^(put|update|delete|transactWrite|batchWrite)/.test(name) && left-- <= 0)
      throw new Error('The process has died')
    return db[name](input)
  })
}
