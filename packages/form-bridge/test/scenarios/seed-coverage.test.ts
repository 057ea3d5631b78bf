import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Item } from '@strongroom/kit/db'
import { type FunctionRecorder, recordFunctions } from '@strongroom/kit/testing/reached-functions'
import { collectItems, compareSeedCoverage } from '@strongroom/kit/testing/seed-coverage'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test } from 'vitest'
import { formBridgeTable } from '../../src/tables.ts'
import { publish, releaseKey } from '../support/published-plugin.ts'
import { createTestService, newSubmission } from '../support/test-service.ts'

const directory = fileURLToPath(new URL('../../', import.meta.url))

describe.each(serviceStores().slice(0, 1))('Form-Bridge over HTTP', (store) => {
  let recorder: FunctionRecorder
  beforeAll(async () => {
    recorder = await recordFunctions()
  })
  const service = createTestService(store, { FORM_BRIDGE_RELEASE_KEYS: releaseKey.publicKey })
  const items = new Map<string, Item[]>()
  const collect = () => collectItems(service.db, [formBridgeTable], items)
  const operate = async (method: string, path: string, body?: object) => {
    const response = await service.call(method, path, {
      token: service.operator,
      ...(body && { body }),
    })
    expect([path, response.status < 300]).toEqual([path, true])
    return response.body
  }

  /** Everything that sites, agencies and operators do. */
  async function use() {
    const { agency_id, api_key } = await service.agency()
    const join_token = await service.joinToken(api_key)
    const waiting = service.host.site()
    const { body: pending } = await service.register(waiting)
    await collect()
    await operate('GET', '/registrations')
    await operate('GET', `/registrations?domain=${encodeURIComponent(pending.domain)}`)
    const { registration_id, temp_key } = pending
    const hash = createHash('sha256').update(temp_key).digest('hex')
    await operate('GET', `/registrations?temp_key_hash=${hash}`)
    await service.call('POST', '/validate', {
      body: { registration_id, temp_key, site_url: waiting.url, validation_level: 'basic' },
    })
    await operate('GET', `/registrations/${registration_id}/validation`)
    const site = await service.connected({ join_token })
    const { site_id } = site
    await service.call('POST', `/agency/sites/${site_id}/confirm`, {
      token: api_key,
    })
    await service.call('GET', '/site', { token: site.api_key })
    await service.signed(site, 'POST', '/site/heartbeat', { plugin_version: '1.0.0' })
    await service.signed(site, 'POST', '/webhook', newSubmission())
    await publish(service.call, service.operator, '1.1.0')
    const check = '/updates/check?slug=form-bridge&current_version=1.0.0'
    await service.signed(site, 'GET', check)
    for (const path of [
      '/sites',
      `/sites/${site_id}`,
      `/sites/${site_id}/api-keys`,
      `/sites/${site_id}/update-checks`,
      `/sites/${site_id}/indexes`,
      '/adoption',
      '/adoption/1.0.0/sites',
      '/agencies',
      `/agencies/${agency_id}`,
      `/agencies/${agency_id}/sites`,
      `/agencies/${agency_id}/indexes`,
      `/rate-limits/api/${site_id}/usage`,
      '/plugins/form-bridge/versions',
      '/plugins/form-bridge/versions/1.1.0',
    ]) {
      await operate('GET', path)
    }
    await service.signed(site, 'GET', '/site', undefined, { secret: 'guessed' })
    await operate('GET', '/security-events')
    await operate('GET', `/security-events?site_id=${site_id}`)
    const peer = '192.0.2.10'
    const invalid = { ...service.host.site(), url: 'http://10.0.0.1/' }
    for (let n = 0; n < 10; n++) await service.register(invalid, {}, peer)
    const { items: patterns } = await operate('GET', '/abuse-patterns?type=invalid_domains')
    await collect()
    await operate('DELETE', `/abuse-patterns/invalid_domains/${patterns[0].identifier}`)
    for (const action of ['suspend', 'resume']) {
      await operate('POST', `/sites/${site_id}/${action}`)
    }
    await operate('PATCH', `/agencies/${agency_id}`, { status: 'suspended' })
    await operate('PATCH', `/agencies/${agency_id}`, { status: 'active' })
    const again = service.host.site()
    await service.register(again)
    const moved = await service.move(site, again)
    expect(moved.status).toBe(200)
    await operate('POST', `/sites/${site_id}/disable`)
    await service.connected({}, again)
    const back = await service.connected()
    await service.connected({}, back.wordpress)
    service.clock.advance({ hours: 2 })
    const { body: before } = await service.register(waiting)
    const supersedes = { registration_id: before.registration_id, temp_key: before.temp_key }
    await service.register(waiting, { supersedes })
  }

  test('reaches everything that its coverage page names', async () => {
    await use()
    await collect()
    await service.close()
    const functions = await recorder.stop()
    expect(await compareSeedCoverage(directory, { functions, items })).toEqual({
      unreached: [],
      noLongerPending: [],
    })
  })
})
