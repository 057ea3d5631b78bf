import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createTestService } from '../support/test-service.ts'
import { end, type WordPressSite } from '../support/wordpress-host.ts'

describe.each(serviceStores())('validation on $name', (store) => {
  const service = createTestService(store)
  const validate = (site: WordPressSite, given = {}, peer?: string) => {
    const { registration_id, temp_key } = site.pending ?? {}
    const body = { registration_id, temp_key, site_url: site.url, ...given }
    return service.call('POST', '/validate', { body, ...(peer && { peer }) })
  }
  const page = `<html><head><meta name="generator" content="WordPress 6.8.1"></head>
    <body><script src="/wp-includes/js/a.js"></script>${'Welcome '.repeat(20)}</body></html>`

  test('detects what the site has', async () => {
    const site = service.host.site()
    site.handlers.set('/', (_, response) => end(response, 200, page, { 'x-frame-options': 'DENY' }))
    site.handlers.set('/wp-json/', (_, response) => end(response, 200, '{"namespaces":[]}'))
    site.handlers.set('/wp-login.php', (_, response) => end(response, 200, '<input name="log">'))
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

  test('fails the checks of an empty site and detects malicious code', async () => {
    const [empty, bad] = [service.host.site(), service.host.site()]
    empty.handlers.set('/', (_, response) => end(response, 500, ''))
    bad.handlers.set('/', (_, response) =>
      end(response, 200, `${page}<script>eval(atob('x'))</script>`),
    )
    for (const site of [empty, bad]) await service.register(site)
    const nothing = (await validate(empty)).body.validation_results
    expect(nothing.wordpress_checks.score).toBe(0)
    expect(nothing.http_checks.checks.valid_status_code).toBe(false)
    const found = (await validate(bad)).body.validation_results
    expect(found.security_checks.checks.no_malware_indicators).toBe(false)
  })

  test('is cached for a day for each level', async () => {
    const site = service.host.site()
    await service.register(site)
    await validate(site)
    const asked = site.requests.length
    expect((await validate(site)).body).toMatchObject({ cached: true, validation_level: 'basic' })
    expect(site.requests).toHaveLength(asked)
    expect((await validate(site, { validation_level: 'strict' })).body.cached).toBe(false)
    service.clock.advance({ days: 1 })
    await service.register(site)
    expect((await validate(site, { validation_level: 'strict' })).body.cached).toBe(false)
  })

  test('is available only to the caller that registered the domain', async () => {
    const site = service.host.site()
    await service.register(site)
    const response = await validate(site, { temp_key: 'fb_temp_guess' })
    expect(response).toMatchObject({ status: 404, code: 'form-bridge.registration_invalid' })
    expect(site.requests).toEqual([])
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
