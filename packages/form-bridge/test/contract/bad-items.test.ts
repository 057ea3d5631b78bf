import type { Item } from '@strongroom/kit/db'
import { ItemMismatch } from '@strongroom/kit/db-errors'
import { expect, test } from 'vitest'
import { newSiteId } from '../../src/sites/item.ts'
import { onEveryStore } from '../support/on-every-store.ts'
import {
  hash,
  newDomain,
  newHash,
  newKeys,
  START,
  type TestStores,
} from '../support/test-stores.ts'

const registration_id = 'reg_01J9Z3NDEKTSV4RRFFQ69G5FAV'

/** The problem, the attribute that the error names, and the write. */
const misfits: [string, string, (newStores: TestStores) => Promise<unknown>][] = [
  ['a domain in capitals', 'domain', ({ register }) => register('Example.com')],
  ['a domain with a separator', 'domain', ({ register }) => register('example.com#x')],
  ['a domain that looks like a site id', 'domain', ({ register }) => register(newSiteId())],
  [
    'a registration with an invalid email address',
    'admin_email',
    ({ registrations }) =>
      registrations.create({
        domain: newDomain(),
        temp_key: newHash(),
        wp_version: '6.8',
        plugin_version: '1.0.0',
        admin_email: 'nobody',
        client_ip: '203.0.113.7',
      }),
  ],
  [
    'a version with a separator',
    'wp_version',
    ({ registrations }) =>
      registrations.create({
        domain: newDomain(),
        temp_key: newHash(),
        wp_version: '6#8',
        plugin_version: '1.0.0',
        client_ip: '203.0.113.7',
      }),
  ],
  [
    'an API key in place of its hash',
    'api_key_hash',
    async ({ credentials, register, newSite }) =>
      credentials.connect(await register(), { ...newSite(), api_key_hash: 'fb_live_key' }),
  ],
  [
    'a malformed site id',
    'site_id',
    async ({ credentials, register, newSite }) =>
      credentials.connect(await register(), { ...newSite(), site_id: 'example.com' }),
  ],
  [
    'a rotation to an API key in place of its hash',
    'api_key_hash',
    async ({ connectedSite, credentials }) =>
      credentials.rotate(await connectedSite(), { ...newKeys(), api_key_hash: 'fb_live_key' }, 60),
  ],
  [
    'a webhook secret that is not encrypted',
    'webhook_secret',
    async ({ credentials, register, newSite }) =>
      credentials.connect(await register(), { ...newSite(), webhook_secret: 'whsec_plain' }),
  ],
  [
    'a rotation to a secret that is not encrypted',
    'webhook_secret',
    async ({ connectedSite, credentials }) =>
      credentials.rotate(await connectedSite(), { ...newKeys(), webhook_secret: 'plain' }, 60),
  ],
  [
    'a grace period that ends within a second',
    'ttl',
    async ({ connectedSite, credentials }) =>
      credentials.rotate(await connectedSite(), newKeys(), 0.5),
  ],
  [
    'a reconnection with an API key in place of its hash',
    'api_key_hash',
    async ({ connectedSite, credentials, register }) => {
      const site = await connectedSite()
      const keys = { ...newKeys(), api_key_hash: 'fb_live_key' }
      return credentials.reconnect(await register(site.domain), site, keys)
    },
  ],
  [
    'a request count that is not an integer',
    'request_count',
    async ({ connectedSite, sites }) =>
      sites.recordRequests(await connectedSite(), { requests: -1, remaining: 5 }),
  ],
  [
    'a bucket with a fractional count',
    'n',
    ({ rates }) => rates.count({ scope: 'api', site_id: newSiteId() }, 60, 0.5),
  ],
  [
    'a score above 100',
    'validation_score',
    ({ validations }) =>
      validations.put({
        domain: newDomain(),
        registration_id,
        validation_level: 'basic',
        passes_validation: true,
        validation_score: 101,
        validation_results: {},
      }),
  ],
  [
    'results that JSON cannot represent',
    'validation_results.when',
    ({ validations }) =>
      validations.put({
        domain: newDomain(),
        registration_id,
        validation_level: 'basic',
        passes_validation: true,
        validation_score: 10,
        validation_results: { when: new Date(0) as unknown as string },
      }),
  ],
  [
    'an event of another type',
    'event_type',
    ({ securityEvents }) =>
      securityEvents.record({
        site_id: newSiteId(),
        event_type: 'other' as 'auth_failure',
        client_ip: '203.0.113.7',
        user_agent: '',
        details: {},
      }),
  ],
  [
    'a pattern whose identifier contains a separator',
    'identifier',
    ({ abusePatterns }) =>
      abusePatterns.record({
        pattern_type: 'api_abuse',
        identifier: 'a#b',
        severity: 'low',
        details: {},
      }),
  ],
  ['an agency with a negative limit', 'max_sites', ({ agency }) => agency(-1)],
  [
    'a negative limit',
    'max_sites',
    async ({ agency, agencies }) => agencies.change((await agency()).agency_id, { max_sites: -1 }),
  ],
  [
    'an unknown role',
    'role',
    async ({ agency, joinAgency }) =>
      joinAgency({
        agency_id: (await agency()).agency_id,
        site_id: newSiteId(),
        domain: newDomain(),
        role: 'boss' as 'member',
      }),
  ],
  [
    'a join token with zero uses',
    'max_uses',
    ({ joinTokens }) =>
      joinTokens.create(
        {
          agency_id: 'agency_0123456789abcdef',
          token_hash: newHash(),
          role: 'member',
          max_uses: 0,
        },
        60,
      ),
  ],
  [
    'a malformed nonce',
    'SK',
    ({ authentication }) =>
      authentication.useNonce({ site_id: newSiteId(), timestamp: START, nonce: 'once' }),
  ],
  [
    'a signature of another length',
    'signature',
    ({ releases }) =>
      releases.publish(
        { slug: 'p', version: '1.0.0', details: {}, sha256: hash('zip'), signature: 'c2hvcnQ=' },
        new Uint8Array(1),
      ),
  ],
]

onEveryStore('an item that does not match its schema', (newStores) => {
  test.each(misfits)('is rejected before it is stored: %s', async (_what, attribute, attempt) => {
    const stores = newStores()
    const mismatch = await attempt(stores).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(mismatch).toBeInstanceOf(ItemMismatch)
    expect(mismatch).toMatchObject({ table: 'form-bridge-plugin-auth', attributes: [attribute] })
  })

  test('leaves the site unchanged when its rotation is rejected', async () => {
    const { connectedSite, sites, credentials } = newStores()
    const site = await connectedSite()
    const bad = { ...newKeys(), webhook_secret: '' }
    await expect(credentials.rotate(site, bad, 60)).rejects.toBeInstanceOf(ItemMismatch)
    expect(await sites.get(site)).toEqual(site)
  })
})

/** Changes an item without the store's checks. */
async function damage(
  { db, raw }: TestStores,
  { PK, SK }: { PK: string; SK: string },
  change: Item,
) {
  const stored = await raw(PK, SK)
  await db.putItem({ TableName: 'form-bridge-plugin-auth', Item: { ...stored, ...change } })
}

onEveryStore('a stored item that is foreign or damaged', (newStores) => {
  test('is an error that names table, key and attribute but not the value', async () => {
    const stores = newStores()
    const site = await stores.connectedSite()
    await damage(stores, site, { webhook_secret: 42, colour: 'not for everybody' })
    const error = await stores.sites.get(site).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(ItemMismatch)
    expect(error).toMatchObject({
      table: 'form-bridge-plugin-auth',
      key: { PK: site.PK, SK: site.SK },
      attributes: ['webhook_secret', 'colour'],
    })
    expect(String(error)).not.toContain('everybody')
    expect(String(error)).not.toContain('42')
  })

  test('never authenticates a caller', async () => {
    const stores = newStores()
    const site = await stores.connectedSite()
    await damage(stores, site, { status: 'trusted' })
    const { authentication } = stores
    await expect(authentication.findSiteByApiKey(site.api_key_hash)).rejects.toBeInstanceOf(
      ItemMismatch,
    )
    await expect(authentication.findSiteById(site.site_id)).rejects.toBeInstanceOf(ItemMismatch)
  })

  test('is an error in a list too and not skipped', async () => {
    const stores = newStores()
    const registration = await stores.register()
    await damage(stores, registration, { client_ip: 7 })
    await expect(stores.registrations.listByDomain(registration.domain)).rejects.toBeInstanceOf(
      ItemMismatch,
    )
  })
})
