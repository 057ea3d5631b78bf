import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { MAX_EXAMINED } from '../../src/sites/list.ts'
import { onEveryStore } from '../support/on-every-store.ts'
import { createTestService } from '../support/test-service.ts'
import type { TestStores } from '../support/test-stores.ts'

async function pagesOf(
  { siteList }: TestStores,
  filter: Parameters<TestStores['siteList']['page']>[0],
  limit: number,
) {
  const pages: string[][] = []
  let after
  do {
    const page = await siteList.page(filter, { limit, after })
    pages.push(page.items.map(({ site_id }) => site_id))
    after = page.next
  } while (after)
  return pages
}

onEveryStore('the list of sites', (newStores) => {
  const checked = (
    stores: TestStores,
    site: { site_id: string; domain: string },
    version: string,
  ) =>
    stores.updateChecks.record({
      site_id: site.site_id,
      domain: site.domain,
      current_version: version,
      latest_version: '9.0.0',
      update_available: true,
    })

  test('of all statuses is newest first, whatever the status, and pages do not overlap', async () => {
    const stores = newStores()
    const made: string[] = []
    const word = 'everystatus'
    for (let at = 0; at < 7; at++) {
      stores.clock.advance({ minutes: 1 })
      const site = await stores.connectedSite(`${word}${at}.example`)
      if (at % 3 === 1) await stores.sites.suspend(site)
      if (at % 3 === 2) await stores.sites.disable(site)
      made.unshift(site.site_id)
    }
    const filter = { status: 'all', search: word } as const
    expect((await pagesOf(stores, filter, 3)).flat()).toEqual(made)
    expect((await pagesOf(stores, { ...filter, status: 'suspended' }, 3)).flat()).toEqual([
      made[2],
      made[5],
    ])
    expect((await pagesOf(stores, { ...filter, search: made[4]! }, 3)).flat()).toEqual([made[4]])
  })

  test('has the version and the time when each was last seen, and filters by both', async () => {
    const stores = newStores()
    const [old, current, silent] = [
      await stores.connectedSite('old.seen.example'),
      await stores.connectedSite('current.seen.example'),
      await stores.connectedSite('silent.seen.example'),
    ]
    await checked(stores, old, '1.0.0')
    await checked(stores, current, '1.1.0')
    stores.clock.advance({ days: 15 })
    await stores.sites.recordRequests(current, { requests: 1, remaining: 9 })
    const filter = { status: 'all', search: '.seen.example' } as const
    const { items } = await stores.siteList.page({ ...filter, version: '1.1.0' }, {})
    expect(items).toEqual([
      {
        site_id: current.site_id,
        domain: 'current.seen.example',
        status: 'active',
        created_at: current.created_at,
        last_seen: '2100-01-16T00:00:00.000Z',
        installed_version: '1.1.0',
      },
    ])
    const seenBefore = '2100-01-02T00:00:00.000Z'
    const unseen = (await pagesOf(stores, { ...filter, seenBefore }, 1)).flat()
    expect(unseen.toSorted()).toEqual([old.site_id, silent.site_id].toSorted())
    // A version is known for 90 days after the last check.
    stores.clock.advance({ days: 90 })
    expect((await stores.siteList.page({ ...filter, version: '1.1.0' }, {})).items).toEqual([])
  })

  test('by version finds a site at the domain that it moved to after its last check', async () => {
    const stores = newStores()
    const site = await stores.connectedSite('before.moved.example')
    await checked(stores, site, '5.5.5')
    const registration = await stores.register('after.moved.example')
    const moved = await stores.siteMoves.move(registration, site, {
      api_key_hash: 'f'.repeat(64),
      webhook_secret: 'AgR4moved',
    })
    expect(moved.kind).toBe('moved')
    const { items } = await stores.siteList.page({ status: 'all', version: '5.5.5' }, {})
    expect(items).toMatchObject([{ site_id: site.site_id, domain: 'after.moved.example' }])
  })

  test('of an agency has its sites only, and those of a version among them', async () => {
    const stores = newStores()
    const { agency_id } = await stores.agency()
    const [member, other] = [await stores.connectedSite(), await stores.connectedSite()]
    await stores.connectedSite()
    for (const { site_id, domain } of [member, other]) {
      await stores.joinAgency({ agency_id, site_id, domain, role: 'owner' })
    }
    await checked(stores, member, '3.0.0')
    const all = await pagesOf(stores, { status: 'active', agency_id }, 1)
    expect(all.flat().toSorted()).toEqual([member.site_id, other.site_id].toSorted())
    const filter = { status: 'active', agency_id, version: '3.0.0' } as const
    expect((await pagesOf(stores, filter, 5)).flat()).toEqual([member.site_id])
    await stores.sites.suspend(member)
    expect((await pagesOf(stores, filter, 5)).flat()).toEqual([])
  })
})

describe.each(serviceStores())('sites for operators on $name', (store) => {
  const service = createTestService(store)
  const get = (path: string) => service.call('GET', path, { token: service.operator })
  const act = (site_id: string, action: string, body?: object) =>
    service.call('POST', `/sites/${site_id}/${action}`, { token: service.operator, body })

  test('are listed with their agency, and counted by status', async () => {
    const before = (await get('/site-counts')).body
    const agency = await service.agency()
    const join_token = await service.joinToken(agency.api_key)
    const site = await service.connected({ join_token })
    const lonely = await service.connected()
    const { items } = (await get(`/sites?agency_id=${agency.agency_id}&status=all`)).body
    expect(items).toEqual([
      {
        site_id: site.site_id,
        domain: site.domain,
        status: 'active',
        created_at: expect.any(String),
        last_seen: expect.any(String),
        environment: expect.any(String),
        confirmation_needed: false,
        installed_version: null,
        agency: { agency_id: agency.agency_id, agency_name: 'Nine Sites' },
      },
    ])
    const alone = (await get(`/sites?search=${lonely.site_id}`)).body.items
    expect(alone).toMatchObject([{ site_id: lonely.site_id, agency: null }])
    expect(JSON.stringify(items)).not.toMatch(/hash|secret|AgR4/)
    await act(lonely.site_id, 'suspend')
    await service.register(service.host.site())
    const after = (await get('/site-counts')).body
    const grown = (name: string) => after[name].count - before[name].count
    expect([grown('active'), grown('suspended'), grown('pending_registrations')]).toEqual([1, 1, 1])
    expect(after).toMatchObject({
      active: { is_complete: true },
      not_seen: { count: 0, is_complete: true },
    })
    service.clock.advance({ days: 15 })
    const later = (await get('/site-counts?not_seen_days=14')).body
    expect(later.not_seen.count).toBe(after.active.count)
    expect(later.pending_registrations.count).toBe(0)
    const unseen = (await get(`/sites?not_seen_days=14&search=${site.domain}`)).body.items
    expect(unseen).toMatchObject([{ site_id: site.site_id }])
  })

  test('that need confirmation are listed and counted until they are confirmed', async () => {
    const site = await service.connected()
    const url = `${service.host.site().url}/in`
    const token = service.operator
    const destination = `/sites/${site.site_id}/destination`
    expect((await service.call('PUT', destination, { token, body: { url } })).status).toBe(200)
    await service.register(site.wordpress)
    expect((await service.exchange(site.wordpress)).status).toBe(200)
    const unconfirmed = async () => (await get('/sites?status=unconfirmed')).body.items
    expect(await unconfirmed()).toMatchObject([
      { site_id: site.site_id, status: 'active', confirmation_needed: true },
    ])
    expect((await get('/site-counts')).body.unconfirmed).toEqual({ count: 1, is_complete: true })
    const details = (await get(`/sites/${site.site_id}`)).body
    expect(details.unconfirmed_since).toBe(new Date(service.clock.now()).toISOString())
    await act(site.site_id, 'confirm')
    expect(await unconfirmed()).toEqual([])
  })

  test('of an invalid filter are refused with the field', async () => {
    for (const query of ['status=gone', 'not_seen_days=0', 'version=<b>', 'agency_id=1']) {
      expect(await get(`/sites?${query}`)).toMatchObject({ status: 400, code: 'request.invalid' })
    }
  })

  test('have a history of changes with reasons, security events and versions, newest first', async () => {
    const site = await service.connected()
    const path = `/sites/${site.site_id}/history`
    expect((await get(path)).body).toEqual({ items: [], is_complete: true })
    const reason = 'Sends spam since Monday'
    service.clock.advance({ minutes: 1 })
    await act(site.site_id, 'suspend', { reason })
    service.clock.advance({ minutes: 1 })
    await act(site.site_id, 'resume')
    service.clock.advance({ minutes: 1 })
    await service.signed(site, 'GET', '/site', undefined, { home: 'https://clone.example.org' })
    for (const current_version of ['1.0.0', '1.0.0', '1.1.0']) {
      service.clock.advance({ minutes: 1 })
      await service.stores.updateChecks.record({
        site_id: site.site_id,
        domain: site.domain,
        current_version,
        latest_version: '1.1.0',
        update_available: false,
      })
    }
    const { items, is_complete } = (await get(path)).body
    expect(items).toMatchObject([
      { kind: 'version', version: '1.1.0', previous_version: '1.0.0' },
      { kind: 'version', version: '1.0.0', previous_version: null },
      { kind: 'security_event', event_type: 'suspicious_activity' },
      { kind: 'change', action: 'form-bridge.site.resumed', actor: 'operator:ops', reason: null },
      { kind: 'change', action: 'form-bridge.site.suspended', actor: 'operator:ops', reason },
    ])
    expect(is_complete).toBe(true)
    expect(items[3]).not.toHaveProperty('address')
    const short = (await get(`${path}?limit=2`)).body
    expect(short).toMatchObject({ items: items.slice(0, 2), is_complete: false })
    const missing = await get('/sites/site_0123456789abcdef/history')
    expect(missing).toMatchObject({ status: 404, code: 'form-bridge.site_not_found' })
  })

  test('are not changed with a reason that is too long, empty or not text', async () => {
    const site = await service.connected()
    for (const reason of ['x'.repeat(501), '  ', 7]) {
      const response = await act(site.site_id, 'suspend', { reason })
      expect(response).toMatchObject({ status: 400, code: 'request.invalid' })
    }
    expect((await get(`/sites/${site.site_id}`)).body.status).toBe('active')
  })
})

describe.each(serviceStores())('a page of a rare filter on $name', (store) => {
  const service = createTestService(store)

  test('examines a bounded number of sites, and the next one goes on', async () => {
    const { stores } = service
    const needle = await stores.connectedSite('needle.example')
    service.clock.advance({ minutes: 1 })
    for (let at = 0; at < MAX_EXAMINED + 10; at++) await stores.connectedSite()
    const path = '/sites?search=needle.example&status=all'
    const first = await service.call('GET', path, { token: service.operator })
    expect(first.body.items).toEqual([])
    const next = `${path}&cursor=${first.body.cursor}`
    const second = await service.call('GET', next, { token: service.operator })
    expect(second.body).toMatchObject({ items: [{ site_id: needle.site_id }], cursor: null })
  })
})
