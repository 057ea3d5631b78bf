import { hostileDb } from '@strongroom/kit/testing/hostile-db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createAgencyService } from '../../src/agencies/service.ts'
import { createIndexService } from '../../src/indexes/service.ts'
import { createSiteAdmin } from '../../src/sites/service.ts'
import { createStores } from '../../src/stores.ts'
import { createTestService } from '../support/test-service.ts'

const agreeing = (name: unknown) => ({ name, in_table: true, in_index: true })

describe.each(serviceStores())('indexes on $name', (store) => {
  const service = createTestService(store)
  const check = (path: string) =>
    service.call('GET', `${path}/indexes`, { token: service.operator })

  /** The services as they are while the index does not follow the table. */
  function withStaleIndex() {
    const db = hostileDb(service.db, { seed: 1, staleIndex: 1 })
    const stores = createStores({ db, clock: service.clock })
    const siteAdmin = createSiteAdmin({ ...stores, defaultDestination: undefined })
    const agencyService = createAgencyService(stores)
    return {
      siteAdmin,
      indexes: createIndexService({ ...stores, siteAdmin, agencyService }),
    }
  }

  test('find an active site by its id, its current key and its agency, and agree with the table', async () => {
    const { agency_id, api_key } = await service.agency()
    const join_token = await service.joinToken(api_key)
    const site = await service.connected({ join_token })
    const path = `/sites/${site.site_id}`
    await expect.poll(async () => (await check(path)).body.consistent).toBe(true)
    expect((await check(path)).body.entries).toEqual([
      agreeing('active'),
      agreeing('key version 1'),
      agreeing(agency_id),
    ])
    await service.call('POST', `${path}/suspend`, { token: service.operator })
    await expect.poll(async () => (await check(path)).body.consistent).toBe(true)
    expect((await check(path)).body.entries[0]).toEqual({
      name: 'active',
      in_table: false,
      in_index: false,
    })
    const missing = await check('/sites/site_0123456789abcdef')
    expect(missing).toMatchObject({ status: 404, code: 'form-bridge.site_not_found' })
  })

  test('find an active agency by its id, and not a suspended one', async () => {
    const { agency_id } = await service.agency()
    const path = `/agencies/${agency_id}`
    const active = { consistent: true, entries: [agreeing('active')] }
    await expect.poll(async () => (await check(path)).body).toEqual(active)
    const body = { status: 'suspended' }
    await service.call('PATCH', path, { token: service.operator, body })
    const suspended = { name: 'active', in_table: false, in_index: false }
    const both = { consistent: true, entries: [suspended] }
    await expect.poll(async () => (await check(path)).body).toEqual(both)
    const missing = await check('/agencies/agency_0123456789abcdef')
    expect(missing).toMatchObject({ status: 404, code: 'form-bridge.agency_not_found' })
  })

  test('that do not follow the table are reported', async () => {
    const site = await service.connected()
    const { agency_id } = await service.agency()
    const { indexes } = withStaleIndex()
    expect(await indexes.compareSite(site.site_id)).toEqual([
      { name: 'active', in_table: true, in_index: false },
      { name: 'key version 1', in_table: true, in_index: false },
    ])
    expect(await indexes.compareAgency(agency_id)).toEqual([
      { name: 'active', in_table: true, in_index: false },
    ])
  })

  test('that do not follow the table do not hide the current key of a site', async () => {
    const { site_id } = await service.connected()
    const { siteAdmin } = withStaleIndex()
    expect(await siteAdmin.listApiKeys(site_id)).toMatchObject([{ state: 'current' }])
  })
})
