import { expect, test } from 'vitest'
import { newSiteId } from '../../src/sites/item.ts'
import { createTestStores, hash, newDomain, newKeys, START, times } from '../support/test-stores.ts'
import { onServiceStoresAndHostile } from '../support/on-every-store.ts'

/** Transactions have an idempotency token, so they can be sent again after a lost response. */
const transactions = { conflict: 0.2, throttle: 0.2, lostResponse: 0.05, staleIndex: 0.5 }
const singleWrites = { conflict: 0.2, throttle: 0.2 }

onServiceStoresAndHostile('concurrent transactions', transactions, (newStores) => {
  test('of twenty exchanges of one registration exactly one gets credentials', async () => {
    const { register, newSite, raw, credentials, listSitesOfDomain } = newStores()
    const registration = await register()
    const offers = times(20, newSite)
    const outcomes = await Promise.all(
      offers.map((offer) => credentials.connect(registration, offer)),
    )
    const connected = outcomes.flatMap((each) => (each.kind === 'connected' ? [each.site] : []))
    expect(connected).toHaveLength(1)
    expect(outcomes.filter(({ kind }) => kind === 'refused')).toEqual(
      times(19, () => ({ kind: 'refused', reason: 'registration' })),
    )
    expect(await listSitesOfDomain(registration.domain)).toEqual(connected)
    const lookups = await Promise.all(
      offers.map(({ api_key_hash }) => raw(`API#${api_key_hash}`, 'LOOKUP')),
    )
    expect(lookups.filter(Boolean)).toHaveLength(1)
  })

  test('of two proved registrations of one domain exactly one creates a site', async () => {
    const { register, newSite, registrations, credentials, listSitesOfDomain } = newStores()
    const domain = newDomain()
    const both = await Promise.all([register(domain), register(domain)])
    expect((await registrations.listByDomain(domain)).items).toHaveLength(2)
    const outcomes = await Promise.all(
      both.map((registration) => credentials.connect(registration, newSite())),
    )
    expect(outcomes.filter(({ kind }) => kind === 'connected')).toHaveLength(1)
    expect(outcomes).toContainEqual({ kind: 'refused', reason: 'domain' })
    expect(await listSitesOfDomain(domain)).toHaveLength(1)
    // The refused registration is unused and can reconnect.
    const pending = (await registrations.listByDomain(domain)).items.filter(
      ({ status }) => status === 'pending',
    )
    expect(pending).toHaveLength(1)
  })

  test('of twenty sites that join an agency with a limit of five exactly five are admitted', async () => {
    const { agency, agencies, joinAgency } = newStores()
    const { agency_id } = await agency(5)
    const outcomes = await Promise.all(
      times(20, () =>
        joinAgency({ agency_id, site_id: newSiteId(), domain: newDomain(), role: 'member' }),
      ),
    )
    expect(outcomes.filter(({ kind }) => kind === 'joined')).toHaveLength(5)
    expect(outcomes.filter(({ kind }) => kind !== 'joined')).toEqual(
      times(15, () => ({ kind: 'refused', reason: 'agency_full' })),
    )
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 5 })
    expect((await agencies.listSites(agency_id)).items).toHaveLength(5)
  })

  test('of twenty exchanges into an agency with a limit of five exactly five become sites', async () => {
    const { agency, agencies, register, newSite, credentials } = newStores()
    const { agency_id } = await agency(5)
    const registrations = await Promise.all(times(20, () => register()))
    const outcomes = await Promise.all(
      registrations.map((registration) =>
        credentials.connect(registration, {
          ...newSite(),
          agency: { agency_id, role: 'member' },
        }),
      ),
    )
    expect(outcomes.filter(({ kind }) => kind === 'connected')).toHaveLength(5)
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 5 })
  })

  test('a join token with three uses admits exactly three of twenty sites', async () => {
    const { agency, agencies, joinToken, joinAgency } = newStores()
    const { agency_id } = await agency(100)
    const { token_hash } = await joinToken(agency_id, 3)
    const outcomes = await Promise.all(
      times(20, () =>
        joinAgency({
          agency_id,
          site_id: newSiteId(),
          domain: newDomain(),
          role: 'member',
          join_token_hash: token_hash,
        }),
      ),
    )
    expect(outcomes.filter(({ kind }) => kind === 'joined')).toHaveLength(3)
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 3 })
  })

  test('a site that leaves twice concurrently is counted once', async () => {
    const { agency, agencies, joinAgency } = newStores()
    const { agency_id } = await agency(5)
    const members = times(3, () => newSiteId())
    for (const site_id of members) {
      await joinAgency({ agency_id, site_id, domain: newDomain(), role: 'member' })
    }
    const [leaver = ''] = members
    const left = await Promise.all(times(10, () => agencies.leave({ agency_id, site_id: leaver })))
    expect(left.filter(Boolean)).toHaveLength(1)
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 2 })
  })

  test('of ten rotations of the same keys exactly one succeeds', async () => {
    const { connectedSite, authentication, credentials } = newStores()
    const site = await connectedSite()
    const offers = times(10, newKeys)
    const outcomes = await Promise.all(offers.map((keys) => credentials.rotate(site, keys, 3600)))
    const isRotated = outcomes.map(({ kind }) => kind === 'rotated')
    expect(isRotated.filter(Boolean)).toHaveLength(1)
    const known = await Promise.all(
      offers.map(({ api_key_hash }) => authentication.findSiteByApiKey(api_key_hash)),
    )
    expect(known.map(Boolean)).toEqual(isRotated)
    expect(known.find(Boolean)?.site.key_version).toBe(2)
  })

  test('many checks of one site on one day count once in the totals, and all are stored', async () => {
    const { updateChecks, clock } = newStores()
    // A separate day, because the totals include all sites.
    clock.advance({ days: 1 + Math.floor(Math.random() * 10_000) })
    const today = new Date(clock.now()).toISOString().slice(0, 10)
    const site_id = newSiteId()
    const check = {
      site_id,
      domain: newDomain(),
      current_version: '1.0.0',
      latest_version: '1.0.0',
      update_available: false,
    }
    await Promise.all(times(8, () => updateChecks.record(check)))
    expect(await updateChecks.getAdoption(today)).toEqual({ '1.0.0': 1 })
    expect((await updateChecks.history(site_id)).items).toHaveLength(8)
  })
})

onServiceStoresAndHostile('concurrent single writes', singleWrites, (newStores) => {
  test('of twenty requests with one nonce exactly one is accepted', async () => {
    const { authentication } = newStores()
    const moment = {
      site_id: newSiteId(),
      timestamp: START,
      nonce: hash('nonce').slice(0, 32),
    }
    const taken = await Promise.all(times(20, () => authentication.useNonce(moment)))
    expect(taken.filter(Boolean)).toHaveLength(1)
  })

  test('of 400 requests, 64 of them concurrent, exactly 90 are admitted with a limit of 90', async () => {
    const { db, clock } = newStores()
    const machines = times(2, () =>
      createTestStores(db, clock).rates.limiter([{ name: 'minute', limit: 90, windowSeconds: 60 }]),
    )
    const site_id = newSiteId()
    let [asked, admitted] = [0, 0]
    const worker = async (number: number) => {
      while (asked++ < 400) {
        const decision = await machines[number % 2]?.take({ scope: 'api', site_id })
        if (decision?.admitted) admitted++
      }
    }
    await Promise.all(times(64, worker))
    expect(admitted).toBe(90)
  })

  test('a hundred concurrent requests are all counted', async () => {
    const { rates } = newStores()
    const subject = { scope: 'api', site_id: newSiteId() } as const
    await Promise.all(times(100, () => rates.count(subject, 60)))
    const buckets = await rates.analyse(subject, 60, { from: START, to: START })
    expect(buckets.map(({ n }) => n)).toEqual([100])
  })

  test('two events of one second do not overwrite each other', async () => {
    const { securityEvents, abusePatterns } = newStores()
    const site_id = newSiteId()
    await Promise.all(
      times(20, (number) =>
        securityEvents.record({
          site_id,
          event_type: 'auth_failure',
          client_ip: '203.0.113.7',
          user_agent: 'curl',
          details: { number },
        }),
      ),
    )
    expect((await securityEvents.listBySubject({ site_id })).items).toHaveLength(20)
    await Promise.all(
      times(20, (number) =>
        abusePatterns.record({
          pattern_type: 'api_abuse',
          identifier: site_id,
          severity: 'high',
          details: { number },
        }),
      ),
    )
    const found = await abusePatterns.listByPattern({
      pattern_type: 'api_abuse',
      identifier: site_id,
    })
    expect(found.items).toHaveLength(20)
  })

  test('a concurrent rotation and suspension leave a suspended site with one pair of keys', async () => {
    const { connectedSite, sites, authentication, credentials } = newStores()
    const site = await connectedSite()
    const keys = newKeys()
    const [rotated] = await Promise.all([credentials.rotate(site, keys, 0), sites.suspend(site)])
    const now = await sites.get(site)
    expect(now).toMatchObject({
      status: 'suspended',
      api_key_hash: rotated.kind === 'rotated' ? keys.api_key_hash : site.api_key_hash,
    })
    expect(await authentication.findSiteByApiKey(now?.api_key_hash ?? '')).toMatchObject({
      site: now,
    })
  })

  test('of ten concurrent suspensions exactly one reports success', async () => {
    const { connectedSite, sites } = newStores()
    const site = await connectedSite()
    const outcomes = await Promise.all(times(10, () => sites.suspend(site)))
    expect(outcomes.filter(Boolean)).toHaveLength(1)
  })
})
