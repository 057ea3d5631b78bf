/** Form-Bridge on its functions: registrations, sites, agencies and releases. */
import { siteMembershipKey } from '@strongroom/form-bridge/agencies/item'
import { versionCacheKey } from '@strongroom/form-bridge/releases/item'
import { createStores } from '@strongroom/form-bridge/stores'
import { formBridgeTable } from '@strongroom/form-bridge/tables'
import { expect, test } from 'vitest'
import type { Answer } from '../../../server/test/every-service.ts'
import { askAsSite, submission, type TestDeployment } from '../support/scenario.ts'

const expectOk = (answer: Answer) => expect([answer.status, answer.code]).toEqual([200, undefined])

export function testFormBridge(opened: () => TestDeployment): void {
  test('serve a connected site: status, heartbeat, rotation, submissions, updates', async () => {
    const { deployment, server, admin } = opened()
    const { releases } = createStores(server)
    // The secret of cursors, which operators used first.
    await deployment.forgetSecrets('form-bridge-agency')
    const agency = await server.agency(admin)
    const site = await server.site(agency.api_key)
    expectOk(await askAsSite(server, site, 'GET', '/site'))
    const withdrawsWhileStored = async (name: string, version: string) => {
      const { zip, headers } = server.release(version)
      const path = `/form-bridge/v1/plugins/form-bridge/${version}`
      expect((await server.ask('PUT', path, { token: admin, body: zip, headers })).status).toBe(201)
      deployment.beforeCall(
        { function: name, action: 'PutItem', leadingKey: versionCacheKey.PK },
        async () => void (await releases.withdraw({ slug: 'form-bridge', version })),
      )
    }
    await withdrawsWhileStored('form-bridge-site', '2.0.0')
    const heartbeat = { plugin_version: '1.0.0' }
    const beat = await askAsSite(server, site, 'POST', '/site/heartbeat', heartbeat)
    expect(beat).toMatchObject({ status: 200, body: { latest_version: '1.1.0' } })
    const confirm = `/form-bridge/v1/agency/sites/${site.site_id}/confirm`
    await server.ask('POST', confirm, { token: agency.api_key, body: {} })
    const refused = await askAsSite(server, site, 'POST', '/webhook', submission())
    expect(refused.code).toBe('form-bridge.no_destination')
    const forged = { ...site, webhook_secret: 'x'.repeat(43) }
    expect((await askAsSite(server, forged, 'GET', '/site')).status).toBe(401)
    const rotated = await askAsSite(server, site, 'POST', '/site/rotate', {})
    expectOk(rotated)
    const renewed = { ...site, ...rotated.body }
    await withdrawsWhileStored('form-bridge-updates', '2.1.0')
    const check = '/updates/check?slug=form-bridge&current_version=1.0.0'
    const update = await askAsSite(server, renewed, 'GET', check)
    expect(update).toMatchObject({ status: 200, body: { version: '1.1.0' } })
    expect((await askAsSite(server, forged, 'GET', check)).status).toBe(401)
    const download = await deployment.fetch(new Request(update.body.package))
    expect([download.status, download.headers.get('content-type')]).toEqual([
      200,
      'application/zip',
    ])
    expectOk(await server.ask('GET', '/form-bridge/v1/plugins/form-bridge'))
    for (const path of ['', '/sites', `/sites/${site.site_id}`, '/join-tokens']) {
      expectOk(await server.ask('GET', `/form-bridge/v1/agency${path}`, { token: agency.api_key }))
    }
    const asAgency = (method: string, path: string, body?: object) =>
      server.ask(method, `/form-bridge/v1/agency${path}`, {
        token: agency.api_key,
        ...(body && { body }),
      })
    const joining = await asAgency('POST', '/join-tokens', {})
    expect((await asAgency('DELETE', `/join-tokens/${joining.body.id}`)).status).toBe(204)
    const url = server.upstream.replace('http:', 'https:')
    const set = await asAgency('PUT', `/sites/${site.site_id}/destination`, { url })
    expect(set.status).toBe(200)
    expect((await asAgency('DELETE', `/sites/${site.site_id}`)).status).toBe(204)
    expectOk(await askAsSite(server, renewed, 'POST', '/site/disconnect', {}))
    const other = await server.site(agency.api_key)
    const disable = `/form-bridge/v1/sites/${other.site_id}/disable`
    expect((await server.ask('POST', disable, { token: admin })).status).toBeLessThan(300)
  })

  test('let a member of an agency disconnect', async () => {
    const { server, admin } = opened()
    const agency = await server.agency(admin)
    const [leaving, staying] = [
      await server.site(agency.api_key),
      await server.site(agency.api_key),
    ]
    const listed = (query = '') =>
      server.ask('GET', `/form-bridge/v1/agency/sites${query}`, { token: agency.api_key })
    const first = await listed('?limit=1')
    const second = await listed(`?limit=1&cursor=${first.body.cursor}`)
    const ids = [...first.body.items, ...second.body.items].map(({ site_id }) => site_id)
    expect(new Set(ids)).toEqual(new Set([leaving.site_id, staying.site_id]))
    expectOk(await askAsSite(server, leaving, 'POST', '/site/disconnect', {}))
    expect((await listed()).body.items).toEqual([
      expect.objectContaining({ site_id: staying.site_id }),
    ])
    // As a membership was stored at first.
    await server.db.deleteItem({
      TableName: formBridgeTable.name,
      Key: siteMembershipKey({ agency_id: agency.agency_id, site_id: staying.site_id }),
    })
    const shown = await server.ask('GET', `/form-bridge/v1/agency/sites/${staying.site_id}`, {
      token: agency.api_key,
    })
    expect(shown.body).toMatchObject({ agencies: [agency.agency_id] })
  })

  test('reconnect a site and move it to another domain', async () => {
    const { server, admin } = opened()
    const agency = await server.agency(admin)
    const register = async (site_url: string) => {
      const versions = { wp_version: '6.8', plugin_version: '1.0.0' }
      const registered = await server.ask('POST', '/form-bridge/v1/register', {
        body: { site_url, ...versions },
      })
      server.prove(registered.body)
      const { registration_id, temp_key } = registered.body
      return { registration_id, temp_key, site_url }
    }
    for (const key of [undefined, agency.api_key]) {
      const site = await server.site(key)
      const { body } = await server.ask('GET', `/form-bridge/v1/sites/${site.site_id}`, {
        token: admin,
      })
      const again = await server.ask('POST', '/form-bridge/v1/exchange', {
        body: { ...(await register(`http://${body.domain}`)), previous_api_key: site.api_key },
      })
      expect(again.body).toMatchObject({ result: 'reconnected', site_id: site.site_id })
      const moving = await register(`http://${body.domain}-moved`)
      const moved = await askAsSite(server, again.body, 'POST', '/exchange', moving)
      expect(moved.body).toMatchObject({ result: 'moved', site_id: site.site_id })
    }
  })

  test('validate a domain once a day', async () => {
    const { server } = opened()
    // Nothing listens there, and no proof has used up its requests.
    const site_url = `${server.upstream.replace('127.0.0.1', '127.0.0.2')}/validated`
    const versions = { wp_version: '6.8', plugin_version: '1.0.0' }
    const register = (supersedes?: object) =>
      server.ask('POST', '/form-bridge/v1/register', {
        body: { site_url, ...versions, ...(supersedes && { supersedes }) },
      })
    const { registration_id, temp_key } = (await register()).body
    const credentials = { registration_id, temp_key }
    const validate = (given = credentials) =>
      server.ask('POST', '/form-bridge/v1/validate', { body: { ...given, site_url } })
    expect((await validate()).body).toMatchObject({ cached: false })
    expect((await validate()).body).toMatchObject({ cached: true })
    expect((await register(credentials)).status).toBe(201)
    expect((await validate()).code).toBe('form-bridge.registration_invalid')
    const wrong = { ...credentials, temp_key: `${temp_key.slice(0, -1)}x` }
    await server.ask('POST', '/form-bridge/v1/exchange', { body: { ...wrong, site_url } })
  }, 60_000)

  test('record an address that registers domains that cannot exist', async () => {
    const { deployment, server } = opened()
    const register = () =>
      deployment.fetch(
        new Request('https://strongroom.example/form-bridge/v1/register', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            site_url: 'https://not a domain',
            wp_version: '6.8',
            plugin_version: '1.0.0',
          }),
        }),
        { sourceIp: '203.0.113.7' },
      )
    for (let failures = 0; failures < 10; failures++) expect((await register()).status).toBe(400)
    const { items } = await createStores(server).abusePatterns.listByType('invalid_domains')
    expect(items).toHaveLength(1)
  })
}
