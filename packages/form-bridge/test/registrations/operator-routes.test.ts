import { createHash } from 'node:crypto'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createTestService } from '../support/test-service.ts'

const sha256 = (text = '') => createHash('sha256').update(text).digest('hex')

describe.each(serviceStores())('registrations for operators on $name', (store) => {
  const service = createTestService(store)
  const find = async (query: string) =>
    (await service.call('GET', `/registrations?${query}`, { token: service.operator })).body.items

  test('are listed by domain, of any status, newest first, without keys', async () => {
    const wordpress = service.host.site()
    const [first, second] = [
      (await service.register(wordpress)).body,
      (await service.register(wordpress, { admin_email: 'ada@example.org' })).body,
    ]
    await service.exchange(wordpress)
    const found = await find(`domain=${encodeURIComponent(wordpress.domain)}`)
    expect(found).toMatchObject([
      { registration_id: second.registration_id, status: 'active', wp_version: '6.8.12' },
      { registration_id: first.registration_id, status: 'pending', plugin_version: '1.0.0' },
    ])
    expect(found[0].client_ip).toMatch(/^ip_/)
    expect(JSON.stringify(found)).not.toMatch(/temp_key|fb_temp|ada@|hash/)
  })

  test('are found by the hash of their temporary key', async () => {
    const wordpress = service.host.site()
    const { registration_id, temp_key } = (await service.register(wordpress)).body
    const query = `temp_key_hash=${sha256(temp_key)}`
    await expect.poll(async () => (await find(query)).length).toBe(1)
    expect(await find(query)).toMatchObject([{ registration_id, status: 'pending' }])
    await service.exchange(wordpress)
    expect(await find(query)).toMatchObject([{ registration_id, status: 'active' }])
    expect(await find(`temp_key_hash=${sha256('another')}`)).toEqual([])
    service.clock.advance({ hours: 1 })
    expect(await find(query)).toEqual([])
  })

  test('show the validation of their domain until another registration of it is validated', async () => {
    const wordpress = service.host.site()
    const validate = async (validation_level: string) => {
      const { registration_id, temp_key } = (await service.register(wordpress)).body
      const body = { registration_id, temp_key, site_url: wordpress.url, validation_level }
      expect((await service.call('POST', '/validate', { body })).status).toBe(200)
      return `/registrations/${registration_id}/validation`
    }
    const show = (path: string) => service.call('GET', path, { token: service.operator })
    const first = await validate('basic')
    await expect.poll(async () => (await show(first)).status).toBe(200)
    expect((await show(first)).body).toMatchObject({
      domain: wordpress.domain,
      validation_level: 'basic',
      validation_results: { dns_checks: { score: 90 } },
    })
    const second = await validate('strict')
    await expect.poll(async () => (await show(second)).status).toBe(200)
    const gone = { status: 404, code: 'form-bridge.validation_not_found' }
    expect(await show(first)).toMatchObject(gone)
    service.clock.advance({ hours: 24 })
    expect(await show(second)).toMatchObject(gone)
  })
})
