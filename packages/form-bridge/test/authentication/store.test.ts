import type { Db } from '@strongroom/kit/db'
import { expect, test } from 'vitest'
import { newSiteId } from '../../src/sites/item.ts'
import { onServiceStores } from '../support/on-every-store.ts'
import { createTestStores, hash, newHash, START, type TestStores } from '../support/test-stores.ts'

/** Stores on which queries and inconsistent reads fail. */
function withoutIndexes({ db, clock }: TestStores): { strict: TestStores; reads: () => number } {
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
  return { strict: createTestStores(strictDb, clock), reads: () => reads }
}

onServiceStores('authentication', (newStores) => {
  test('by API key is two consistent reads of the table and no index', async () => {
    const stores = newStores()
    const site = await stores.connectedSite()
    const { strict, reads } = withoutIndexes(stores)
    expect(await strict.authentication.findSiteByApiKey(site.api_key_hash)).toMatchObject({ site })
    expect(reads()).toBe(2)
  })

  test('by the site id of a signed request is two consistent reads of the table and no index', async () => {
    const stores = newStores()
    const site = await stores.connectedSite()
    const { strict, reads } = withoutIndexes(stores)
    expect(await strict.authentication.findSiteById(site.site_id)).toEqual(site)
    expect(reads()).toBe(2)
  })

  test('of an agency is two consistent reads of the table and no index', async () => {
    const stores = newStores()
    const agency = await stores.agency()
    const { strict, reads } = withoutIndexes(stores)
    expect(await strict.agencies.findByKey(agency.api_key_hash)).toEqual(agency)
    expect(reads()).toBe(2)
  })

  test('finds nothing for an unknown key or site id', async () => {
    const { authentication, agencies, agency } = newStores()
    const { api_key_hash } = await agency()
    expect(await authentication.findSiteByApiKey(newHash())).toBeUndefined()
    expect(await authentication.findSiteByApiKey(api_key_hash)).toBeUndefined()
    expect(await authentication.findSiteById(newSiteId())).toBeUndefined()
    expect(await agencies.findByKey(newHash())).toBeUndefined()
  })

  test('sees a suspension immediately', async () => {
    const { authentication, connectedSite, sites } = newStores()
    const site = await connectedSite()
    await sites.suspend(site)
    expect((await authentication.findSiteByApiKey(site.api_key_hash))?.site.status).toBe(
      'suspended',
    )
    expect((await authentication.findSiteById(site.site_id))?.status).toBe('suspended')
  })

  test('accepts a nonce once for each site and time', async () => {
    const { authentication } = newStores()
    const nonce = hash('nonce').slice(0, 32)
    const moment = { site_id: newSiteId(), timestamp: START, nonce }
    expect(await authentication.useNonce(moment)).toBe(true)
    expect(await authentication.useNonce(moment)).toBe(false)
    expect(await authentication.useNonce({ ...moment, site_id: newSiteId() })).toBe(true)
    expect(await authentication.useNonce({ ...moment, timestamp: START + 1 })).toBe(true)
  })

  test('records the last use of a key, and does not create an unknown one', async () => {
    const { authentication, connectedSite, clock, raw } = newStores()
    const { api_key_hash } = await connectedSite()
    clock.advance({ minutes: 5 })
    expect(await authentication.recordApiKeyUse(api_key_hash)).toBe(true)
    expect((await authentication.findSiteByApiKey(api_key_hash))?.key).toMatchObject({
      created_at: '2100-01-01T00:00:00.000Z',
      last_used: '2100-01-01T00:05:00.000Z',
    })
    const unknown = newHash()
    expect(await authentication.recordApiKeyUse(unknown)).toBe(false)
    expect(await raw(`API#${unknown}`, 'LOOKUP')).toBeUndefined()
  })
})
