import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { domainChecks } from '../../src/validation/domain-checks.ts'
import { type Checks, scored, table } from '../../src/validation/score.ts'
import { openService } from './open-service.ts'
import { end, type WordPressSite } from './wordpress-host.ts'

/** All checks with one answer. */
const all = (passed: boolean) =>
  Object.fromEntries(
    Object.entries(table).map(([category, { points }]) => [
      category,
      Object.fromEntries(Object.keys(points).map((name) => [name, passed])),
    ]),
  ) as Checks

describe('the score', () => {
  test('is 100 if all checks pass and 0 if none does', () => {
    expect(scored(all(true), 'strict')).toMatchObject({
      validation_score: 100,
      passes_validation: true,
    })
    expect(scored(all(false), 'basic')).toMatchObject({
      validation_score: 0,
      passes_validation: false,
    })
  })

  test('has categories of 100 points each, weighed as the table says', () => {
    for (const { points } of Object.values(table)) {
      expect(Object.values(points).reduce<number>((sum, each) => sum + each, 0)).toBe(100)
    }
    const dnsOnly = { ...all(false), dns_checks: all(true).dns_checks }
    expect(scored(dnsOnly, 'basic').validation_score).toBe(Math.floor(150 / 8.8))
  })

  test('passes at 40, 60 and 80', () => {
    const some = {
      ...all(false),
      wordpress_checks: all(true).wordpress_checks,
      abuse_checks: all(true).abuse_checks,
    }
    const withDns = { ...some, dns_checks: all(true).dns_checks }
    const nearly = {
      ...withDns,
      http_checks: all(true).http_checks,
      security_checks: all(true).security_checks,
    }
    const passes = (checks: Checks) =>
      (['basic', 'standard', 'strict'] as const).map(
        (level) => scored(checks, level).passes_validation,
      )
    expect(passes(some)).toEqual([true, false, false])
    expect(passes(withDns)).toEqual([true, true, false])
    expect(passes(nearly)).toEqual([true, true, true])
  })
})

test('a name of a staging or test site costs no points, a reserved or blocked one does', () => {
  const points = (host: string) => Object.values(domainChecks(host)).filter(Boolean).length
  for (const host of [
    'staging.client.com',
    'dev.shop.org',
    'test.client.co.uk',
    'xn--mnchen-3ya.de',
  ]) {
    expect([host, points(host)]).toEqual([host, 4])
  }
  for (const host of ['localhost', 'example.com', 'shop.local', '192.0.2.1', 'fake.shop.org']) {
    expect(points(host)).toBeLessThan(4)
  }
})

describe.each(serviceStores())('validation on $name', (store) => {
  const service = openService(store)
  const validate = (site: WordPressSite, given = {}, peer?: string) => {
    const { registration_id, temp_key } = site.pending ?? {}
    const body = { registration_id, temp_key, site_url: site.url, ...given }
    return service.ask('POST', '/validate', { body, ...(peer && { peer }) })
  }
  const page = `<html><head><meta name="generator" content="WordPress 6.8.1"></head>
    <body><script src="/wp-includes/js/a.js"></script>${'Welcome '.repeat(20)}</body></html>`

  test('finds what is really there', async () => {
    const site = service.host.site()
    site.answers.set('/', (_, response) => end(response, 200, page, { 'x-frame-options': 'DENY' }))
    site.answers.set('/wp-json/', (_, response) => end(response, 200, '{"namespaces":[]}'))
    site.answers.set('/wp-login.php', (_, response) => end(response, 200, '<input name="log">'))
    await service.register(site)
    const { body } = await validate(site, { validation_level: 'standard' })
    expect(body).toMatchObject({ domain: site.domain, validation_level: 'standard', cached: false })
    expect(body.validation_results.wordpress_checks).toEqual({
      score: 100,
      weight: 2,
      checks: {
        has_wp_indicators: true,
        wp_json_accessible: true,
        wp_admin_accessible: true,
        wp_version_detected: true,
      },
    })
    expect(body.validation_results.http_checks.checks).toMatchObject({
      responds_https: false,
      responds_http: true,
      valid_status_code: true,
      has_content: true,
    })
    expect(body.validation_results.security_checks.checks).toMatchObject({ headers_secure: true })
  })

  test('finds nothing where there is nothing, and sees code that does not belong there', async () => {
    const [empty, bad] = [service.host.site(), service.host.site()]
    empty.answers.set('/', (_, response) => end(response, 500, ''))
    bad.answers.set('/', (_, response) =>
      end(response, 200, `${page}<script>eval(atob('x'))</script>`),
    )
    for (const site of [empty, bad]) await service.register(site)
    const nothing = (await validate(empty)).body.validation_results
    expect(nothing.wordpress_checks.score).toBe(0)
    expect(nothing.http_checks.checks.valid_status_code).toBe(false)
    const found = (await validate(bad)).body.validation_results
    expect(found.security_checks.checks.no_malware_indicators).toBe(false)
  })

  test('is kept for a day for each level', async () => {
    const site = service.host.site()
    await service.register(site)
    await validate(site)
    const asked = site.asked.length
    expect((await validate(site)).body).toMatchObject({ cached: true, validation_level: 'basic' })
    expect(site.asked).toHaveLength(asked)
    expect((await validate(site, { validation_level: 'strict' })).body.cached).toBe(false)
    service.clock.advance({ days: 1 })
    await service.register(site)
    expect((await validate(site, { validation_level: 'strict' })).body.cached).toBe(false)
  })

  test('is for whoever has registered the domain, and nobody else', async () => {
    const site = service.host.site()
    await service.register(site)
    const answer = await validate(site, { temp_key: 'fb_temp_guess' })
    expect(answer).toMatchObject({ status: 404, code: 'form-bridge.registration_invalid' })
    expect(site.asked).toEqual([])
  })

  test('is limited by address', async () => {
    const peer = '192.0.2.99'
    const codes = new Set<string | undefined>()
    for (let n = 0; n < 22; n++) {
      const site = service.host.site()
      await service.register(site)
      codes.add((await validate(site, {}, peer)).code)
    }
    expect(codes).toEqual(new Set([undefined, 'form-bridge.rate_limited']))
  })
})
