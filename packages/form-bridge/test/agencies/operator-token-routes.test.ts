import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createTestService } from '../support/test-service.ts'

describe.each(serviceStores())('join tokens for operators on $name', (store) => {
  const service = createTestService(store)
  const call = (method: string, path: string, body?: object) =>
    service.call(method, path, { token: service.operator, body })

  test('are created and shown once, let a site join, and are revoked', async () => {
    const { agency_id, api_key } = await service.agency()
    const path = `/agencies/${agency_id}/join-tokens`
    const created = await call('POST', path, { role: 'member', max_uses: 2, expires_in: 3600 })
    expect(created).toMatchObject({ status: 201, body: { role: 'member', uses: 0, max_uses: 2 } })
    const { token, id } = created.body
    const site = await service.connected({ join_token: token })
    const { items } = (await call('GET', path)).body
    expect(items).toMatchObject([{ id, role: 'member', uses: 1, max_uses: 2 }])
    expect(JSON.stringify(items)).not.toContain(token)
    const members = await service.call('GET', '/agency/sites', { token: api_key })
    expect(members.body.items).toMatchObject([{ site_id: site.site_id, role: 'member' }])
    expect((await call('DELETE', `${path}/${id}`)).status).toBe(204)
    expect((await call('GET', path)).body.items).toEqual([])
    const refused = await service.register(service.host.site(), { join_token: token })
    expect(refused.status).toBeGreaterThanOrEqual(400)
    const again = await call('DELETE', `${path}/${id}`)
    expect(again).toMatchObject({ status: 404, code: 'form-bridge.join_token_not_found' })
    expect(service.logged.join('')).not.toContain(token)
  })

  test('of an unknown agency are neither listed nor created', async () => {
    const path = '/agencies/agency_0123456789abcdef/join-tokens'
    for (const response of [await call('GET', path), await call('POST', path, {})]) {
      expect(response).toMatchObject({ status: 404, code: 'form-bridge.agency_not_found' })
    }
  })

  test('of another agency are not revoked', async () => {
    const [own, other] = [await service.agency(), await service.agency()]
    const { id } = (await call('POST', `/agencies/${own.agency_id}/join-tokens`, {})).body
    const foreign = await call('DELETE', `/agencies/${other.agency_id}/join-tokens/${id}`)
    expect(foreign).toMatchObject({ status: 404, code: 'form-bridge.join_token_not_found' })
  })
})
