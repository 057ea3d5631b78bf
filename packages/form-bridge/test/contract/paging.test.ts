import { createCursors } from '@strongroom/kit/cursor'
import type { Item } from '@strongroom/kit/db'
import type { Page, PageRequest } from '@strongroom/kit/paging'
import { expect, test } from 'vitest'
import type { SecurityEvent } from '../../src/security/item.ts'
import { newSiteId } from '../../src/sites/item.ts'
import { onServiceStores } from '../support/on-every-store.ts'
import { newDomain, times, type TestStores } from '../support/test-stores.ts'

const cursors = createCursors(new Uint8Array(32).fill(7))

/** Reads a list to its end through encrypted cursors; `afterPage` runs after each page. */
async function pagesOf<T>(
  list: (page: PageRequest) => Promise<Page<T>>,
  limit: number,
  afterPage: () => Promise<unknown> = async () => undefined,
): Promise<T[][]> {
  const pages: T[][] = []
  let after: Item | undefined
  do {
    const page = await list({ limit, after })
    pages.push(page.items)
    after = page.next && cursors.open(['list'], cursors.seal(['list'], page.next))
    await afterPage()
  } while (after)
  return pages
}

/** Sites created one second apart, newest first. */
async function sitesInOrder(
  { connectedSite, clock }: TestStores,
  count: number,
  domain = newDomain,
) {
  const made = []
  for (let number = 0; number < count; number++) {
    made.unshift(await connectedSite(domain()))
    clock.advance({ seconds: 1 })
  }
  return made
}

onServiceStores('a list', (newStores) => {
  test('of pending registrations is newest first, and concurrent registrations do not shift its pages', async () => {
    const stores = newStores()
    const { registrations, register, clock } = stores
    const made: string[] = []
    for (let number = 0; number < 7; number++) {
      made.unshift((await register()).registration_id)
      clock.advance({ ms: 500 })
    }
    const pages = await pagesOf(registrations.listPending, 3, () => register())
    expect(pages.flat().map(({ registration_id }) => registration_id)).toEqual(made)
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1])
  })

  test('of pending registrations omits exchanged and expired ones', async () => {
    const { registrations, register, newSite, credentials } = newStores()
    const [used, ended, open] = [await register(), await register(), await register()]
    await credentials.connect(used, newSite())
    expect(await registrations.expire(ended)).toBe(true)
    expect(await registrations.expire(ended)).toBe(false)
    const ids = (await registrations.listPending({ limit: 1000 })).items.map(
      ({ registration_id }) => registration_id,
    )
    expect(ids).toContain(open.registration_id)
    expect(ids).not.toContain(used.registration_id)
    expect(ids).not.toContain(ended.registration_id)
    expect((await registrations.get(ended))?.status).toBe('expired')
  })

  test('of the registrations of a domain is newest first, also within one millisecond', async () => {
    const { registrations, register } = newStores()
    const domain = newDomain()
    const made: string[] = []
    for (let number = 0; number < 5; number++) {
      made.unshift((await register(domain)).registration_id)
    }
    const pages = await pagesOf((page) => registrations.listByDomain(domain, page), 2)
    expect(pages.flat().map(({ registration_id }) => registration_id)).toEqual(made)
  })

  test('of active sites is newest first, and new sites do not shift its pages', async () => {
    const stores = newStores()
    // Later than all items of other tests.
    stores.clock.advance({ days: 400 })
    const made = await sitesInOrder(stores, 7)
    const list = (page: PageRequest) => stores.sites.list('active', page)
    const pages = await pagesOf(list, 3, () => stores.connectedSite())
    expect(
      pages
        .flat()
        .map(({ site_id }) => site_id)
        .slice(0, 7),
    ).toEqual(made.map(({ site_id }) => site_id))
    const all = pages.flat().map(({ site_id }) => site_id)
    expect(new Set(all).size).toBe(all.length)
  })

  test('of sites has neither hashes nor secrets', async () => {
    const { sites, connectedSite } = newStores()
    const { site_id, domain, created_at } = await connectedSite()
    const { items } = await sites.list('active', { limit: 1_000 })
    expect(items.filter((site) => site.site_id === site_id)).toEqual([
      {
        PK: `SITE#${domain}`,
        SK: `CREDS#${site_id}`,
        GSI2PK: 'SITES#active',
        GSI2SK: `${created_at}#${site_id}`,
        site_id,
        domain,
        status: 'active',
        created_at,
      },
    ])
  })

  test('with a search does not end before all matches were found', async () => {
    const stores = newStores()
    const word = `needle-${newSiteId().slice(5, 9).toLowerCase().replaceAll('_', 'x')}`
    const needle = () => `${word}z${newDomain()}`
    const early = await sitesInOrder(stores, 2, needle)
    await sitesInOrder(stores, 6)
    const late = await sitesInOrder(stores, 1, needle)
    const pages = await pagesOf(
      (page) => stores.siteList.page({ status: 'active', search: word }, page),
      2,
    )
    expect(pages.flat().map(({ domain }) => domain)).toEqual(
      [...late, ...early].map(({ domain }) => domain),
    )
    expect(pages[0]).toHaveLength(2)
  })

  test('of update checks is newest first and by time', async () => {
    const { updateChecks, clock } = newStores()
    const site_id = newSiteId()
    const record = (current_version: string) =>
      updateChecks.record({
        site_id,
        domain: newDomain(),
        current_version,
        latest_version: '9.0.0',
        update_available: true,
      })
    for (const minor of times(5, (number) => number)) {
      await record(`1.${minor}.0`)
      clock.advance({ hours: 12 })
    }
    const pages = await pagesOf(
      (page) => updateChecks.history(site_id, page),
      2,
      () => record('2.0.0'),
    )
    const versions = pages.flat().map(({ current_version }) => current_version)
    expect(versions).toEqual(['1.4.0', '1.3.0', '1.2.0', '1.1.0', '1.0.0'])
    const secondDay = await updateChecks.history(site_id, {
      from: '2100-01-02T00:00:00.000Z',
      to: '2100-01-02T12:00:00.000Z',
    })
    expect(secondDay.items.map(({ current_version }) => current_version)).toEqual([
      '1.3.0',
      '1.2.0',
    ])
  })

  test('of the security events of a site is newest first and by time', async () => {
    const { securityEvents, clock } = newStores()
    const site_id = newSiteId()
    const event = {
      site_id,
      event_type: 'auth_failure',
      client_ip: '203.0.113.7',
      user_agent: 'curl',
    } as const
    for (const number of times(5, (each) => each)) {
      await securityEvents.record({ ...event, details: { number } })
      if (number % 2) clock.advance({ days: 1 })
    }
    const pages = await pagesOf(
      (page) => securityEvents.listBySubject({ site_id }, page),
      2,
      () => securityEvents.record({ ...event, details: { number: 99 } }),
    )
    expect(pages.flat().map(({ details }) => details.number)).toEqual([4, 3, 2, 1, 0])
    const inRange = await securityEvents.listBySubject(
      { site_id },
      { from: '2100-01-02T00:00:00.000Z', to: '2100-01-02T00:00:00.000Z' },
    )
    expect(inRange.items.map(({ details }) => details.number)).toEqual([3, 2])
    expect(
      await securityEvents.listBySubject(
        { site_id },
        { from: '2101-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' },
      ),
    ).toEqual({ items: [], next: undefined })
  })

  test('of security events by type is newest first over all days and shards, without duplicates or gaps', async () => {
    const { securityEvents, clock } = newStores()
    // A separate year, so that events of other tests are not within its 30 days.
    clock.advance({ days: 1000 })
    const first = clock.now()
    const record = (number: number) =>
      securityEvents.record({
        event_type: 'rate_limit',
        client_ip: `192.0.2.${number}`,
        user_agent: 'curl',
        details: { number },
      })
    const shards = new Set<string | undefined>()
    for (const number of times(40, (each) => each)) {
      const { GSI1PK } = await record(number)
      shards.add(GSI1PK.split('#').at(-1))
      if (number % 3 === 0) clock.advance({ hours: 7 })
    }
    expect(shards.size).toBeGreaterThan(4)
    clock.advance({ ms: 1 })
    const pages = await pagesOf(
      (page) => securityEvents.listByType('rate_limit', page),
      7,
      () => record(99),
    )
    const numbers = pages.flat().map(({ details }) => details.number)
    expect(numbers).toEqual(times(40, (each) => 39 - each))
    expect(pages.map(({ length }) => length)).toEqual([7, 7, 7, 7, 7, 5])
    const day = (number: number) => new Date(first + number * 86_400_000).toISOString()
    const inRange = await securityEvents.listByType('rate_limit', { from: day(1), to: day(2) })
    expect(inRange.items.map(({ details }) => details.number)).toEqual([
      18, 17, 16, 15, 14, 13, 12, 11, 10,
    ])
  })

  test('of security events by type up to a day far in the future reads only past days', async () => {
    const { securityEvents, clock } = newStores()
    clock.advance({ days: 3000 })
    const event = { event_type: 'auth_failure', client_ip: '192.0.2.1', user_agent: '' } as const
    const recorded = await securityEvents.record({ ...event, details: {} })
    const all = { to: '9999-12-31T23:59:59.999Z' }
    expect((await securityEvents.listByType('auth_failure', all)).items).toEqual([recorded])
  })

  test('of security events includes those of a caller with a very long user agent', async () => {
    const { securityEvents } = newStores()
    const site_id = newSiteId()
    await securityEvents.record({
      site_id,
      event_type: 'suspicious_activity',
      client_ip: '192.0.2.1',
      user_agent: 'x'.repeat(10_000),
      details: {},
    })
    const { items } = await securityEvents.listBySubject({ site_id })
    expect(items.map(({ user_agent }) => user_agent)).toEqual(['x'.repeat(512)])
  })

  test('of security events by type continues within one shard, one event at a time', async () => {
    const { db, securityEvents, clock } = newStores()
    clock.advance({ days: 2000 })
    const recorded: SecurityEvent[] = []
    for (const number of times(24, (each) => each)) {
      const event = { event_type: 'auth_failure', client_ip: '192.0.2.1', user_agent: '' } as const
      recorded.unshift(await securityEvents.record({ ...event, details: { number } }))
    }
    const inShard = (shard: number) => recorded.filter(({ GSI1PK }) => GSI1PK.endsWith(`#${shard}`))
    // Of 24 events in eight shards, at least one shard has three.
    const kept = times(8, inShard).find(({ length }) => length >= 3) ?? []
    for (const { PK, SK } of recorded.filter((each) => !kept.includes(each))) {
      await db.deleteItem({ TableName: 'form-bridge-plugin-auth', Key: { PK, SK } })
    }
    const pages = await pagesOf((page) => securityEvents.listByType('auth_failure', page), 1)
    expect(pages).toEqual(kept.map((each) => [each]))
  })

  test('of abuse patterns is newest first, by type and by identifier', async () => {
    const { abusePatterns, clock } = newStores()
    clock.advance({ days: 200 })
    const identifier = newDomain()
    for (const number of times(6, (each) => each)) {
      await abusePatterns.record({
        pattern_type: number % 2 ? 'api_abuse' : 'invalid_domains',
        identifier,
        severity: number === 2 ? 'low' : 'critical',
        details: { number },
      })
      clock.advance({ hours: 6 })
    }
    const numbers = (pages: { details: Record<string, unknown> }[][]) =>
      pages.flat().map(({ details }) => details.number)
    const ofIdentifier = (page: PageRequest) => abusePatterns.listByIdentifier(identifier, page)
    expect(numbers(await pagesOf(ofIdentifier, 2))).toEqual([5, 4, 3, 1, 0])
    const ofType = (page: PageRequest) => abusePatterns.listByType('invalid_domains', page)
    expect(numbers(await pagesOf(ofType, 1))).toEqual([4, 0])
    const one = (page: PageRequest) =>
      abusePatterns.listByPattern({ pattern_type: 'api_abuse', identifier }, page)
    expect(numbers(await pagesOf(one, 2))).toEqual([5, 3, 1])
  })
})
