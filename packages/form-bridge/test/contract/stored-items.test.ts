import { expect, test } from 'vitest'
import { newSiteId } from '../../src/sites/item.ts'
import { onEveryStore } from '../support/on-every-store.ts'
import { hash, newDomain, newHash, START, START_ISO } from '../support/test-stores.ts'

const anHourLater = '2100-01-01T01:00:00.000Z'
const ULID = /[0-9A-HJKMNP-TV-Z]{26}/.source

onEveryStore('an item is stored as the specification shows it,', (newStores) => {
  test('a registration with all optional attributes', async () => {
    const { raw, registrations } = newStores()
    const domain = newDomain()
    const temp_key = hash('the temporary key')
    const { registration_id } = await registrations.create({
      domain,
      temp_key,
      wp_version: '6.8.12',
      plugin_version: '1.1.0',
      admin_email: 'admin@shop.example',
      agency_id: 'agency_0123456789abcdef',
      client_ip: '203.0.113.7',
    })
    expect(await raw(`SITE#${domain}`, `REG#${registration_id}`)).toEqual({
      PK: `SITE#${domain}`,
      SK: `REG#${registration_id}`,
      GSI1PK: `TEMP#${temp_key}`,
      GSI1SK: 'STATUS#pending',
      GSI2PK: 'REGS#pending',
      GSI2SK: `${START_ISO}#${registration_id}`,
      registration_id,
      domain,
      temp_key,
      status: 'pending',
      wp_version: '6.8.12',
      plugin_version: '1.1.0',
      admin_email: 'admin@shop.example',
      agency_id: 'agency_0123456789abcdef',
      client_ip: '203.0.113.7',
      created_at: START_ISO,
      expires_at: anHourLater,
      ttl: START + 3600,
    })
  })

  test('a registration without optional attributes', async () => {
    const { raw, register } = newStores()
    const { PK, SK } = await register()
    const stored = await raw(PK, SK)
    for (const name of ['admin_email', 'agency_id', 'join_token_hash']) {
      expect(stored).not.toHaveProperty(name)
    }
  })

  test('a client address as a hash of it', async () => {
    const { raw, registrations } = newStores()
    const client_ip = hash('203.0.113.7').slice(0, 43)
    const { PK, SK } = await registrations.create({
      domain: newDomain(),
      temp_key: newHash(),
      wp_version: '6.8.12',
      plugin_version: '1.0.0',
      client_ip,
    })
    expect(await raw(PK, SK)).toMatchObject({ client_ip })
  })

  test('temp_key holds a hash, and a plain key is rejected', async () => {
    const { register } = newStores()
    await expect(register(newDomain(), 'Zm9yLXRoZS1zaXRlLW9ubHk')).rejects.toMatchObject({
      name: 'ItemMismatch',
      attributes: ['temp_key'],
    })
  })

  test('site credentials, and the lookup items of key, id and domain', async () => {
    const { raw, register, credentials } = newStores()
    const registration = await register()
    const { domain } = registration
    const site_id = newSiteId()
    const api_key_hash = newHash()
    await credentials.connect(registration, {
      site_id,
      api_key_hash,
      webhook_secret: 'AgR4c2VhbGVk',
      rate_limit_remaining: 100,
    })
    expect(await raw(`SITE#${domain}`, `CREDS#${site_id}`)).toEqual({
      PK: `SITE#${domain}`,
      SK: `CREDS#${site_id}`,
      GSI1PK: `SITE#${site_id}`,
      GSI1SK: 'ACTIVE',
      GSI2PK: 'SITES#active',
      GSI2SK: `${START_ISO}#${site_id}`,
      site_id,
      domain,
      api_key_hash,
      webhook_secret: 'AgR4c2VhbGVk',
      status: 'active',
      created_at: START_ISO,
      activated_at: START_ISO,
      last_seen: START_ISO,
      request_count: 0,
      rate_limit_remaining: 100,
      key_version: 1,
      oldest_key_version: 1,
    })
    expect(await raw(`API#${api_key_hash}`, 'LOOKUP')).toEqual({
      PK: `API#${api_key_hash}`,
      SK: 'LOOKUP',
      GSI1PK: `SITE#${site_id}`,
      GSI1SK: 'API_KEY',
      site_id,
      domain,
      created_at: START_ISO,
      last_used: START_ISO,
      key_version: 1,
    })
    expect(await raw(`SITEID#${site_id}`, 'DOMAIN')).toEqual({
      PK: `SITEID#${site_id}`,
      SK: 'DOMAIN',
      site_id,
      domain,
      created_at: START_ISO,
    })
    expect(await raw(`SITE#${domain}`, 'OWNER')).toEqual({
      PK: `SITE#${domain}`,
      SK: 'OWNER',
      site_id,
      domain,
      created_at: START_ISO,
    })
  })

  test('a registration that was exchanged is active and in no list of pending ones', async () => {
    const { raw, register, newSite, credentials } = newStores()
    const registration = await register()
    await credentials.connect(registration, newSite())
    const { GSI2PK, GSI2SK, ...kept } = registration
    expect([GSI2PK, GSI2SK]).not.toContain(undefined)
    expect(await raw(registration.PK, registration.SK)).toEqual({
      ...kept,
      status: 'active',
      GSI1SK: 'STATUS#active',
    })
  })

  test('the rate limit window of a site, with the cells of each limit', async () => {
    const { raw, rates } = newStores()
    const site_id = newSiteId()
    const { take } = rates.limiter([
      { name: 'minute', limit: 100, windowSeconds: 60 },
      { name: 'hour', limit: 2000, windowSeconds: 3600 },
    ])
    await take({ scope: 'api', site_id })
    expect(await raw(`RATE#api#${site_id}`, 'WINDOW')).toEqual({
      PK: `RATE#api#${site_id}`,
      SK: 'WINDOW',
      minute_win: START,
      minute_cur: 1,
      minute_prev: 0,
      hour_win: START,
      hour_cur: 1,
      hour_prev: 0,
      ttl: START + 7200,
    })
  })

  test('the rate limit bucket of a site, for 24 hours after it ends', async () => {
    const { raw, rates, clock } = newStores()
    const site_id = newSiteId()
    clock.advance({ seconds: 59 })
    await rates.count({ scope: 'webhook', site_id }, 60)
    await rates.count({ scope: 'webhook', site_id }, 60, 4)
    expect(await raw(`RATE#webhook#${site_id}`, `TIME#60#${START}`)).toEqual({
      PK: `RATE#webhook#${site_id}`,
      SK: `TIME#60#${START}`,
      timestamp: START,
      request_type: 'webhook',
      n: 5,
      ttl: START + 60 + 86_400,
    })
  })

  test('the rate limit bucket of an address that registers, for 5 minutes after it ends', async () => {
    const { raw, rates } = newStores()
    await rates.count({ scope: 'registration', client_ip: '198.51.100.1' }, 300)
    await rates.count({ scope: 'key_exchange', client_ip: '198.51.100.1' }, 60)
    expect(await raw('RATE#registration#198.51.100.1', `TIME#300#${START}`)).toEqual({
      PK: 'RATE#registration#198.51.100.1',
      SK: `TIME#300#${START}`,
      timestamp: START,
      action: 'registration',
      n: 1,
      ttl: START + 300 + 300,
    })
    expect(await raw('RATE#key_exchange#198.51.100.1', `TIME#60#${START}`)).toMatchObject({
      action: 'key_exchange',
      ttl: START + 60 + 86_400,
    })
  })

  test('a validation, for 24 hours', async () => {
    const { raw, validations } = newStores()
    const domain = newDomain()
    const registration_id = 'reg_01J9Z3NDEKTSV4RRFFQ69G5FAV'
    await validations.put({
      domain,
      registration_id,
      validation_level: 'standard',
      passes_validation: true,
      validation_score: 72,
      validation_results: { dns_checks: { dns_resolves: true, score: 90 }, notes: ['no MX'] },
    })
    expect(await raw(`VALIDATION#${domain}`, 'RESULT')).toEqual({
      PK: `VALIDATION#${domain}`,
      SK: 'RESULT',
      GSI1PK: `REG#${registration_id}`,
      GSI1SK: 'VALIDATION',
      domain,
      registration_id,
      validation_level: 'standard',
      passes_validation: true,
      validation_score: 72,
      validation_results: { dns_checks: { dns_resolves: true, score: 90 }, notes: ['no MX'] },
      validated_at: START_ISO,
      valid_until: '2100-01-02T00:00:00.000Z',
      ttl: START + 86_400,
    })
  })

  test('the newest version, for 2 hours', async () => {
    const { raw, versionCache } = newStores()
    const version_info = { slug: 'form-bridge', version: '1.1.0', requires_wp: '5.8' }
    await versionCache.put(version_info)
    expect(await raw('PLUGIN_VERSION#latest', 'INFO')).toEqual({
      PK: 'PLUGIN_VERSION#latest',
      SK: 'INFO',
      GSI1PK: 'VERSION#1.1.0',
      GSI1SK: 'RELEASE',
      version_info,
      cached_at: START_ISO,
      ttl: START + 7200,
    })
  })

  test('an update check, for 90 days, and the version that the site now has', async () => {
    const { raw, updateChecks } = newStores()
    const site_id = newSiteId()
    const check = {
      site_id,
      domain: newDomain(),
      current_version: '1.0.0',
      latest_version: '1.1.0',
      update_available: true,
    }
    await updateChecks.record(check)
    const [first] = (await updateChecks.history(site_id)).items
    expect(await raw(`UPDATE_CHECK#${site_id}`, String(first?.SK))).toEqual({
      PK: `UPDATE_CHECK#${site_id}`,
      SK: expect.stringMatching(`^TIME#${START_ISO}#${ULID}$`),
      ...check,
      checked_at: START_ISO,
      ttl: START + 7_776_000,
    })
    expect(await raw(`UPDATE_CHECK#${site_id}`, 'CURRENT')).toEqual({
      PK: `UPDATE_CHECK#${site_id}`,
      SK: 'CURRENT',
      GSI1PK: 'UPDATES#1.0.0',
      GSI1SK: `SITE#${site_id}`,
      ...check,
      checked_at: START_ISO,
      ttl: START + 7_776_000,
      counted_on: '2100-01-01',
    })
    expect(await raw('ADOPTION#2100-01-01', 'VERSION#1.0.0')).toMatchObject({ n: 1 })
  })

  test('a security event of a site, for 30 days', async () => {
    const { raw, securityEvents } = newStores()
    const site_id = newSiteId()
    const event = {
      site_id,
      domain: newDomain(),
      event_type: 'auth_failure' as const,
      client_ip: '203.0.113.7',
      user_agent: 'WordPress/6.8',
      details: { reason: 'bad_signature', offset: -12 },
    }
    const { SK } = await securityEvents.record(event)
    expect(await raw(`FAILED#${site_id}`, SK)).toEqual({
      PK: `FAILED#${site_id}`,
      SK: expect.stringMatching(`^TIME#${START_ISO}#${ULID}$`),
      GSI1PK: expect.stringMatching(/^SECURITY#auth_failure#2100-01-01#[0-7]$/),
      GSI1SK: SK,
      ...event,
      timestamp: START_ISO,
      ttl: START + 2_592_000,
    })
  })

  test('a security event of an unknown site is stored by its address, without a domain', async () => {
    const { raw, securityEvents } = newStores()
    const { PK, SK } = await securityEvents.record({
      event_type: 'rate_limit',
      client_ip: '203.0.113.8',
      user_agent: '',
      details: {},
    })
    expect(PK).toBe('FAILED#unknown#203.0.113.8')
    const stored = await raw(PK, SK)
    expect(stored).toMatchObject({ site_id: 'unknown', details: {} })
    expect(stored).not.toHaveProperty('domain')
  })

  test.each([
    ['low', 1],
    ['medium', 7],
    ['high', 30],
    ['critical', 90],
  ] as const)('an abuse pattern of severity %s, for %d days', async (severity, days) => {
    const { raw, abusePatterns } = newStores()
    const abuse = {
      pattern_type: 'registration_spam',
      identifier: '198.51.100.9',
      severity,
      details: { registrations: 40 },
    } as const
    const { SK } = await abusePatterns.record(abuse)
    expect(await raw('ABUSE#registration_spam', SK)).toEqual({
      PK: 'ABUSE#registration_spam',
      SK: expect.stringMatching(`^198\\.51\\.100\\.9#${START_ISO}#${ULID}$`),
      GSI1PK: 'ABUSE_TRACKING#198.51.100.9',
      GSI1SK: `TIME#${SK.slice('198.51.100.9#'.length)}`,
      GSI2PK: 'ABUSE#registration_spam',
      GSI2SK: SK.slice('198.51.100.9#'.length),
      ...abuse,
      detected_at: START_ISO,
      ttl: START + days * 86_400,
    })
  })

  test('an agency and the lookup of its key', async () => {
    const { raw, agency } = newStores()
    const { agency_id, api_key_hash } = await agency(25)
    expect(await raw(`AGENCY#${agency_id}`, 'INFO')).toEqual({
      PK: `AGENCY#${agency_id}`,
      SK: 'INFO',
      GSI1PK: `AGENCY_META#${agency_id}`,
      GSI1SK: 'ACTIVE',
      GSI2PK: 'AGENCIES#active',
      GSI2SK: `${START_ISO}#${agency_id}`,
      agency_id,
      agency_name: 'Nine Sites Ltd',
      contact_email: 'office@nine-sites.example',
      max_sites: 25,
      current_sites: 0,
      created_at: START_ISO,
      status: 'active',
      api_key_hash,
    })
    expect(await raw(`AGENCY_API#${api_key_hash}`, 'LOOKUP')).toEqual({
      PK: `AGENCY_API#${api_key_hash}`,
      SK: 'LOOKUP',
      agency_id,
      created_at: START_ISO,
    })
  })

  test('a site of an agency', async () => {
    const { raw, agency, agencies, joinAgency } = newStores()
    const { agency_id } = await agency()
    const site = { site_id: newSiteId(), domain: newDomain() }
    await joinAgency({ agency_id, ...site, role: 'member' })
    expect(await raw(`AGENCY#${agency_id}`, `SITE#${site.site_id}`)).toEqual({
      PK: `AGENCY#${agency_id}`,
      SK: `SITE#${site.site_id}`,
      GSI1PK: `SITE#${site.site_id}`,
      GSI1SK: `AGENCY#${agency_id}`,
      agency_id,
      ...site,
      added_at: START_ISO,
      role: 'member',
    })
    expect(await raw(`SITEID#${site.site_id}`, `AGENCY#${agency_id}`)).toEqual({
      PK: `SITEID#${site.site_id}`,
      SK: `AGENCY#${agency_id}`,
      agency_id,
      site_id: site.site_id,
    })
    await agencies.leave({ agency_id, ...site })
    expect(await raw(`AGENCY#${agency_id}`, `SITE#${site.site_id}`)).toBeUndefined()
    expect(await raw(`SITEID#${site.site_id}`, `AGENCY#${agency_id}`)).toBeUndefined()
  })

  test('a join token, by its hash', async () => {
    const { raw, joinTokens } = newStores()
    const agency_id = 'agency_0123456789abcdef'
    const token_hash = newHash()
    await joinTokens.create({ agency_id, token_hash, role: 'member', max_uses: 3 }, 3600)
    expect(await raw(`AGENCY#${agency_id}`, `JOIN#${token_hash}`)).toEqual({
      PK: `AGENCY#${agency_id}`,
      SK: `JOIN#${token_hash}`,
      agency_id,
      token_hash,
      role: 'member',
      max_uses: 3,
      uses: 0,
      created_at: START_ISO,
      expires_at: anHourLater,
      ttl: START + 3600,
    })
  })

  test('a nonce, until its time is out of range', async () => {
    const { raw, authentication } = newStores()
    const site_id = newSiteId()
    const nonce = hash('nonce').slice(0, 32)
    await authentication.useNonce({ site_id, timestamp: START, nonce })
    expect(await raw(`NONCE#${site_id}`, `${START}#${nonce}`)).toEqual({
      PK: `NONCE#${site_id}`,
      SK: `${START}#${nonce}`,
      ttl: START + 600,
    })
  })
})
