import { expect, test } from 'vitest'
import { newSiteId } from '../../src/sites/item.ts'
import { onServiceStores } from '../support/on-every-store.ts'
import { newDomain, newKeys, START, times } from '../support/test-stores.ts'

/** The store still has these items. */
onServiceStores('an expired item is not returned although the store still has it,', (newStores) => {
  test('a registration after one hour, from every read, and it cannot be exchanged', async () => {
    const { registrations, register, newSite, clock, raw, credentials } = newStores()
    const registration = await register()
    const { domain, temp_key } = registration
    const reads = async () => [
      await registrations.get(registration),
      (await registrations.listByDomain(domain)).items[0],
      await registrations.findByTempKey(temp_key),
      (await registrations.listPending()).items.find((each) => each.domain === domain),
    ]
    clock.advance({ seconds: 3599, ms: 999 })
    expect((await reads()).map((each) => each?.registration_id)).toEqual(
      times(4, () => registration.registration_id),
    )
    clock.advance({ ms: 1 })
    expect(await reads()).toEqual(times(4, () => undefined))
    expect(await credentials.connect(registration, newSite())).toEqual({
      kind: 'refused',
      reason: 'registration',
    })
    expect(await raw(registration.PK, registration.SK)).toMatchObject({ status: 'pending' })
  })

  test('a rotated key, when its grace period has ended', async () => {
    const { connectedSite, authentication, sites, clock, credentials } = newStores()
    const site = await connectedSite()
    const keys = newKeys()
    await credentials.rotate(site, keys, 600)
    clock.advance({ seconds: 599 })
    expect(await authentication.findSiteByApiKey(site.api_key_hash)).toBeDefined()
    expect(await sites.listApiKeys(site.site_id)).toHaveLength(2)
    clock.advance({ seconds: 1 })
    expect(await authentication.findSiteByApiKey(site.api_key_hash)).toBeUndefined()
    expect(await authentication.findSiteByApiKey(keys.api_key_hash)).toBeDefined()
    expect(await sites.listApiKeys(site.site_id)).toHaveLength(1)
  })

  test('rate buckets after 24 hours, of registrations after 5 minutes', async () => {
    const { rates, clock } = newStores()
    const site = { scope: 'api', site_id: newSiteId() } as const
    const address = { scope: 'registration', client_ip: `ip-${newSiteId()}` } as const
    await rates.count(site, 60)
    await rates.count(address, 60)
    const range = { from: START, to: START + 60 }
    const counts = async () => [
      (await rates.analyse(site, 60, range)).length,
      (await rates.analyse(address, 60, range)).length,
    ]
    clock.advance({ seconds: 60 + 299 })
    expect(await counts()).toEqual([1, 1])
    clock.advance({ seconds: 1 })
    expect(await counts()).toEqual([1, 0])
    clock.advance({ seconds: 86_400 - 300 })
    expect(await counts()).toEqual([0, 0])
  })

  test('a validation after 24 hours', async () => {
    const { validations, clock } = newStores()
    const domain = newDomain()
    const registration_id = 'reg_01J9Z3NDEKTSV4RRFFQ69G5FAV'
    await validations.put({
      domain,
      registration_id,
      validation_level: 'basic',
      passes_validation: false,
      validation_score: 12.5,
      validation_results: {},
    })
    clock.advance({ seconds: 86_399, ms: 999 })
    expect(await validations.get(domain)).toMatchObject({ validation_score: 12.5 })
    clock.advance({ ms: 1 })
    expect(await validations.get(domain)).toBeUndefined()
    expect(await validations.findByRegistration(registration_id)).toBeUndefined()
  })

  test('the newest version after 2 hours', async () => {
    const { versionCache, clock } = newStores()
    await versionCache.put({ slug: 'form-bridge', version: '3.0.0' })
    clock.advance({ seconds: 7199 })
    expect(await versionCache.latest('form-bridge')).toMatchObject({ version: '3.0.0' })
    clock.advance({ seconds: 1 })
    expect(await versionCache.latest('form-bridge')).toBeUndefined()
    expect(await versionCache.find('3.0.0')).toBeUndefined()
  })

  test('update checks and the version of a site after 90 days', async () => {
    const { updateChecks, clock } = newStores()
    const site_id = newSiteId()
    const current_version = `1.0.0-${site_id}`
    await updateChecks.record({
      site_id,
      domain: newDomain(),
      current_version,
      latest_version: '1.1.0',
      update_available: true,
    })
    const found = async () => [
      (await updateChecks.history(site_id)).items.length,
      (await updateChecks.listSitesByVersion(current_version)).items.length,
      (await updateChecks.current(site_id)) ? 1 : 0,
    ]
    clock.advance({ days: 90, ms: -1 })
    expect(await found()).toEqual([1, 1, 1])
    clock.advance({ ms: 1 })
    expect(await found()).toEqual([0, 0, 0])
  })

  test('security events after 30 days', async () => {
    const { securityEvents, clock } = newStores()
    const site_id = newSiteId()
    clock.advance({ hours: 7, ms: 250 })
    await securityEvents.record({
      site_id,
      event_type: 'suspicious_activity',
      client_ip: '203.0.113.7',
      user_agent: 'curl',
      details: {},
    })
    const found = async () => [
      (await securityEvents.listBySubject({ site_id })).items.length,
      (await securityEvents.listByType('suspicious_activity')).items.length,
    ]
    clock.advance({ days: 30, ms: -251 })
    expect(await found()).toEqual([1, 1])
    clock.advance({ ms: 1 })
    expect(await found()).toEqual([0, 0])
  })

  test.each([
    ['low', 1],
    ['medium', 7],
    ['high', 30],
    ['critical', 90],
  ] as const)('an abuse pattern of severity %s after %d days', async (severity, days) => {
    const { abusePatterns, clock } = newStores()
    const identifier = newDomain()
    const pattern_type = 'invalid_domains'
    await abusePatterns.record({ pattern_type, identifier, severity, details: {} })
    const found = async () => [
      (await abusePatterns.listByPattern({ pattern_type, identifier })).items.length,
      (await abusePatterns.listByIdentifier(identifier)).items.length,
      (await abusePatterns.listByType(pattern_type)).items.filter(
        (each) => each.identifier === identifier,
      ).length,
    ]
    clock.advance({ days, ms: -1 })
    expect(await found()).toEqual([1, 1, 1])
    clock.advance({ ms: 1 })
    expect(await found()).toEqual([0, 0, 0])
  })

  test('a join token when it expires, and it admits no site', async () => {
    const { agency, joinToken, joinTokens, clock, joinAgency } = newStores()
    const { agency_id } = await agency()
    const token = await joinToken(agency_id, 10)
    clock.advance({ seconds: 3599, ms: 999 })
    expect(await joinTokens.get(token)).toEqual(token)
    expect((await joinTokens.list(agency_id)).items).toEqual([token])
    clock.advance({ ms: 1 })
    expect(await joinTokens.get(token)).toBeUndefined()
    expect((await joinTokens.list(agency_id)).items).toEqual([])
    expect(
      await joinAgency({
        agency_id,
        site_id: newSiteId(),
        domain: newDomain(),
        role: 'member',
        join_token_hash: token.token_hash,
      }),
    ).toEqual({ kind: 'refused', reason: 'join_token' })
  })
})
