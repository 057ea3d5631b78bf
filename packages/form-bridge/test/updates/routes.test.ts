import { randomBytes } from 'node:crypto'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { isSignedBy, packageHash } from '../../src/releases/signature.ts'
import { concurrently, createTestService, ORIGIN } from '../support/test-service.ts'
import { pluginZip, publish, releaseKey, signatureOf } from '../support/published-plugin.ts'

describe.each(serviceStores())('updates on $name', (store) => {
  const service = createTestService(store, { FORM_BRIDGE_RELEASE_KEYS: releaseKey.publicKey })
  const slugs = { next: 0 }
  /** A separate plugin for each test, so that their versions do not conflict. */
  const newPlugin = async (...versions: string[]) => {
    const slug = `plugin-${++slugs.next}`
    for (const version of versions) {
      const zip = pluginZip(version, { slug })
      const signature = signatureOf(zip, version, { slug })
      const response = await publish(service.call, service.operator, version, {
        zip,
        signature,
        slug,
      })
      expect(response.status, JSON.stringify(response.body)).toBe(201)
    }
    return slug
  }
  const pathOf = (slug: string, version = '1.0.0', more = '') =>
    `/updates/check?slug=${slug}&current_version=${version}${more}`
  const linkOf = (body: { package: string }) =>
    body.package.slice(`${ORIGIN}/form-bridge/v1`.length)

  test('are returned to anyone in the format of WordPress, without the package', async () => {
    const slug = await newPlugin('1.1.0')
    const { status, body } = await service.call('GET', pathOf(slug))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: `${ORIGIN}/form-bridge/v1/plugins/${slug}`,
      slug,
      version: '1.1.0',
      url: 'https://form-bridge.example/plugin',
      tested: '7.1',
      requires: '5.8',
      requires_php: '7.4',
      autoupdate: false,
      update_available: true,
      compatible: true,
      upgrade_notice: 'Please update',
    })
    expect(body).not.toHaveProperty('package')
  })

  test('are returned even if there is no new version, so that WordPress shows the auto-update switch', async () => {
    const slug = await newPlugin('1.1.0')
    for (const version of ['1.1.0', '1.2.0']) {
      const { body } = await service.call('GET', pathOf(slug, version))
      expect(body).toMatchObject({ version: '1.1.0', update_available: false })
    }
  })

  test('report a PHP or WordPress version that is too old', async () => {
    const slug = await newPlugin('1.1.0')
    const php = await service.call('GET', pathOf(slug, '1.0.0', '&php_version=7.2.1'))
    expect(php.body).toMatchObject({ compatible: false })
    expect(php.body.compatibility_warning).toContain('PHP 7.4')
    const wp = await service.call('GET', pathOf(slug, '1.0.0', '&wp_version=5.7'))
    expect(wp.body.compatibility_warning).toContain('WordPress 5.8')
  })

  test('have for a site a link to the complete, signed package, which is valid for a day', async () => {
    const slug = await newPlugin('1.1.0')
    const site = await service.connected()
    const { body } = await service.signed(site, 'GET', pathOf(slug))
    service.clock.advance({ hours: 23 })
    const response = await service.call('GET', linkOf(body))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/zip')
    expect(Number(response.headers.get('content-length'))).toBe(response.bytes.byteLength)
    const sha256 = packageHash(response.bytes)
    expect(body.sha256).toBe(sha256)
    expect(response.headers.get('x-fb-release-sha256')).toBe(sha256)
    const release = { slug, version: '1.1.0', sha256 }
    expect(isSignedBy([releaseKey.publicKey], release, body.signature)).toBe(true)
    service.clock.advance({ hours: 1 })
    const late = await service.call('GET', linkOf(body))
    expect(late).toMatchObject({ status: 403, code: 'form-bridge.download_token_invalid' })
  })

  test('have a link that is invalid for another version, if it was changed, or if the site is suspended', async () => {
    const slug = await newPlugin('1.1.0', '1.2.0')
    const site = await service.connected()
    const link = linkOf((await service.signed(site, 'GET', pathOf(slug))).body)
    const invalid = { status: 403, code: 'form-bridge.download_token_invalid' }
    expect(await service.call('GET', link.replace('1.2.0', '1.1.0'))).toMatchObject(invalid)
    expect(
      await service.call(
        'GET',
        link.replace(/.$/, (c) => (c === 'A' ? 'B' : 'A')),
      ),
    ).toMatchObject(invalid)
    expect(await service.call('GET', link.replace(/token=\d+/, 'token=4999999999'))).toMatchObject(
      invalid,
    )
    await service.call('POST', `/sites/${site.site_id}/suspend`, { token: service.operator })
    expect(await service.call('GET', link)).toMatchObject(invalid)
  })

  test('have a link whose use counts like every other request of the site', async () => {
    const slug = await newPlugin('1.1.0')
    const site = await service.connected()
    const link = linkOf((await service.signed(site, 'GET', pathOf(slug))).body)
    const responses = await concurrently(20, () => service.call('GET', link))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(9)
    const refused = { status: 429, code: 'form-bridge.rate_limited' }
    expect(responses.find(({ status }) => status !== 200)).toMatchObject(refused)
  })

  test('can be downloaded with a signed request, and not without', async () => {
    const slug = await newPlugin('1.1.0')
    const site = await service.connected()
    const path = `/plugins/${slug}/1.1.0/download`
    expect((await service.signed(site, 'GET', path)).status).toBe(200)
    expect(await service.call('GET', path)).toMatchObject({
      status: 401,
      code: 'form-bridge.unauthorized',
    })
    const none = await service.signed(site, 'GET', `/plugins/${slug}/9.9.9/download`)
    expect(none).toMatchObject({ status: 404, code: 'form-bridge.version_not_found' })
  })

  test('of several chunks are downloaded unchanged', async () => {
    const slug = `plugin-${++slugs.next}`
    const noise = randomBytes(800_000)
    const zip = pluginZip('1.0.0', { slug, files: { [`${slug}/data.bin`]: noise } })
    const signature = signatureOf(zip, '1.0.0', { slug })
    await publish(service.call, service.operator, '1.0.0', { zip, signature, slug })
    const site = await service.connected()
    const response = await service.signed(site, 'GET', `/plugins/${slug}/1.0.0/download`)
    expect(Buffer.compare(response.bytes, zip)).toBe(0)
  })

  test('that were withdrawn are neither offered nor downloaded', async () => {
    const slug = await newPlugin('1.1.0', '1.2.0')
    const site = await service.connected()
    const link = linkOf((await service.signed(site, 'GET', pathOf(slug))).body)
    const path = `/plugins/${slug}/1.2.0/withdraw`
    expect((await service.call('POST', path, { token: service.operator })).body.status).toBe(
      'withdrawn',
    )
    expect((await service.call('GET', pathOf(slug))).body.version).toBe('1.1.0')
    expect((await service.call('GET', link)).code).toBe('form-bridge.version_not_found')
    const twice = await service.call('POST', path, { token: service.operator })
    expect(twice.code).toBe('form-bridge.version_not_found')
  })

  test('of a plugin without a release are not found', async () => {
    const missing = { status: 404, code: 'form-bridge.plugin_not_found' }
    expect(await service.call('GET', pathOf('nothing'))).toMatchObject(missing)
    expect(await service.call('GET', '/plugins/nothing')).toMatchObject(missing)
  })

  test('with a wrong signature are rejected instead of being treated as anonymous', async () => {
    const slug = await newPlugin('1.1.0')
    const site = await service.connected()
    const response = await service.signed(site, 'GET', pathOf(slug), undefined, { secret: 'wrong' })
    expect(response).toMatchObject({ status: 401, code: 'form-bridge.unauthorized' })
  })

  test('are counted by version for each of the last days, oldest first', async () => {
    const token = service.operator
    const { updateChecks } = service.stores
    const today = () => new Date(service.clock.now()).toISOString().slice(0, 10)
    const check = async (current_version: string) => {
      const { site_id, domain } = await service.stores.connectedSite()
      const versions = { current_version, latest_version: '9.0.0' }
      await updateChecks.record({ site_id, domain, ...versions, update_available: true })
    }
    service.clock.advance({ days: 3 })
    for (const version of ['7.0.0', '7.0.0', '7.1.0']) await check(version)
    const first = today()
    service.clock.advance({ days: 1 })
    await check('7.1.0')
    const { body } = await service.call('GET', '/adoption/days?days=2', { token })
    expect(body.days).toEqual([
      { date: first, versions: { '7.0.0': 2, '7.1.0': 1 }, is_complete: true },
      { date: today(), versions: { '7.1.0': 1 }, is_complete: true },
    ])
    service.clock.advance({ days: 1 })
    for (let at = 0; at < 201; at++) await check(`8.0.${at}`)
    const many = (await service.call('GET', '/adoption/days?days=1', { token })).body.days[0]
    expect(Object.keys(many.versions)).toHaveLength(200)
    expect(many.is_complete).toBe(false)
    const tooMany = await service.call('GET', '/adoption/days?days=91', { token })
    expect(tooMany).toMatchObject({ status: 400, code: 'request.invalid' })
  })

  test('count for adoption only if they are signed, once a day for each site', async () => {
    const slug = await newPlugin('9.1.0')
    const [site, other] = [await service.connected(), await service.connected()]
    service.clock.advance({ days: 1 })
    const version = '9.0.3'
    for (const each of [site, site, other]) await service.signed(each, 'GET', pathOf(slug, version))
    await service.call('GET', pathOf(slug, version))
    await service.call('GET', `${pathOf(slug, version)}&site_id=${site.site_id}`)
    await service.call('GET', pathOf(slug, version), { token: site.api_key })
    const token = service.operator
    const { body } = await service.call('GET', '/adoption', { token })
    expect(body.versions[version]).toBe(2)
    const list = await service.call('GET', `/adoption/${version}/sites`, { token })
    const ids = list.body.items.map((item: { site_id: string }) => item.site_id)
    expect(ids.toSorted()).toEqual([site.site_id, other.site_id].toSorted())
    service.clock.advance({ days: 1 })
    expect((await service.call('GET', `/plugins/${slug}`)).body.active_installs).toBe(2)
  })

  test('have details in the format of WordPress, without any active content', async () => {
    const slug = await newPlugin('1.1.0')
    const { body } = await service.call('GET', `/plugins/${slug}`)
    expect(body).toMatchObject({ name: 'Form-Bridge', slug, version: '1.1.0', requires: '5.8' })
    expect(body.author).toBe(
      '<a href="https://form-bridge.example/">The &quot;Bridge&quot; Team</a>',
    )
    expect(body.sections.description).toBe(
      '<p>Sends <strong>forms</strong> to <a href="https://form-bridge.example/">a place</a>.</p>',
    )
    expect(body.sections.changelog).toContain('<h4>1.1.0</h4>')
    expect(body.sections.changelog).toContain('<li>Better</li>')
    expect(JSON.stringify(body)).not.toContain('<script')
    expect(body).not.toHaveProperty('download_link')
  })
})
