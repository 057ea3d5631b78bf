import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { concurrently, createTestService } from '../support/test-service.ts'

const destination = { url: 'https://hooks.example.org' }
const required = { status: 403, code: 'form-bridge.role_required' }

describe.each(serviceStores())('the role of an agency for a site on $name', (store) => {
  const service = createTestService(store)

  /** A site that joined an agency with the role, and was reconnected without its old key. */
  async function joined(role: 'owner' | 'member' | 'viewer') {
    const { agency_id, api_key: token } = await service.agency()
    const join_token = await service.joinToken(token, { role, max_uses: 9 })
    const site = await service.connected({ join_token })
    await service.register(site.wordpress)
    expect((await service.exchange(site.wordpress)).body.confirmation_needed).toBe(true)
    const path = `/agency/sites/${site.site_id}`
    return {
      ...site,
      agency_id,
      join_token,
      read: () => service.call('GET', path, { token }),
      confirm: () => service.call('POST', `${path}/confirm`, { token }),
      setDestination: () =>
        service.call('PUT', `${path}/destination`, { token, body: destination }),
      remove: () => service.call('DELETE', path, { token }),
      setRole: (body: object) =>
        service.call('PUT', `/agencies/${agency_id}/sites/${site.site_id}/role`, {
          token: service.operator,
          body,
        }),
    }
  }

  test('owner lets it read, confirm, set the destination and remove', async () => {
    const site = await joined('owner')
    expect((await site.read()).status).toBe(200)
    expect((await site.confirm()).status).toBe(200)
    expect((await site.setDestination()).body).toMatchObject({ has_destination: true })
    expect((await site.remove()).status).toBe(204)
    expect((await site.read()).code).toBe('form-bridge.site_not_found')
  })

  test('member lets it read and confirm, and nothing else', async () => {
    const site = await joined('member')
    for (const refused of [await site.setDestination(), await site.remove()]) {
      expect(refused).toMatchObject(required)
      expect(refused.body.error.data).toEqual({ role: 'member', required: ['owner'] })
    }
    expect((await site.confirm()).body).toMatchObject({ confirmation_needed: false })
    expect((await site.read()).body).toMatchObject({
      has_destination: false,
      agencies: [site.agency_id],
    })
  })

  test('viewer lets it read, and nothing else', async () => {
    const site = await joined('viewer')
    const refused = [await site.confirm(), await site.setDestination(), await site.remove()]
    for (const each of refused) expect(each).toMatchObject(required)
    expect((await site.read()).body).toMatchObject({
      confirmation_needed: true,
      has_destination: false,
      agencies: [site.agency_id],
    })
  })

  test('viewer does not let its join token confirm a site either', async () => {
    const site = await joined('viewer')
    await site.setRole({ role: 'member' })
    await site.confirm()
    await site.setRole({ role: 'viewer' })
    const reconnect = async () => {
      await service.register(site.wordpress, { join_token: site.join_token })
      return (await service.exchange(site.wordpress)).body
    }
    expect(await reconnect()).toMatchObject({ result: 'reconnected', confirmation_needed: true })
    await site.setRole({ role: 'member' })
    await site.confirm()
    expect(await reconnect()).toMatchObject({ result: 'reconnected', confirmation_needed: false })
  })

  test('is changed by an operator and listed with the site', async () => {
    const site = await joined('viewer')
    const changed = await site.setRole({ role: 'owner' })
    expect(changed.body).toMatchObject({ site_id: site.site_id, role: 'owner' })
    const list = `/agencies/${site.agency_id}/sites`
    const { body } = await service.call('GET', list, { token: service.operator })
    expect(body.items).toMatchObject([{ site_id: site.site_id, role: 'owner' }])
    expect((await site.setDestination()).status).toBe(200)
    expect((await site.setRole({ role: 'boss' })).code).toBe('request.invalid')
    const unknown = `/agencies/${site.agency_id}/sites/site_0123456789abcdef/role`
    const missing = await service.call('PUT', unknown, {
      token: service.operator,
      body: { role: 'owner' },
    })
    expect(missing).toMatchObject({ status: 404, code: 'form-bridge.site_not_found' })
    const none = await service.call('GET', '/agencies/agency_0123456789abcdef/sites', {
      token: service.operator,
    })
    expect(none.code).toBe('form-bridge.agency_not_found')
  })

  test('is decided by the write: after it was lowered, no earlier request changes the site', async () => {
    for (let round = 0; round < 3; round++) {
      const site = await joined('owner')
      const [changes] = await Promise.all([
        concurrently(6, (at) => (at % 2 === 0 ? site.setDestination() : site.remove())),
        site.setRole({ role: 'viewer' }),
      ])
      const { destination: stored } = (await service.stores.sites.get(site)) ?? {}
      const isMember = (await site.read()).status === 200
      const after = await concurrently(4, (at) =>
        at % 2 === 0 ? site.setDestination() : site.remove(),
      )
      expect(after.filter(({ status }) => status < 300)).toEqual([])
      expect((await service.stores.sites.get(site))?.destination).toBe(stored)
      expect((await site.read()).status === 200).toBe(isMember)
      for (const { status } of changes) expect([200, 204, 403, 404, 409]).toContain(status)
    }
  })

  test('lowered between the check and the write refuses the write', async () => {
    const { agencies, memberships, sites } = service.stores
    const site = await joined('owner')
    const name = { agency_id: site.agency_id, site_id: site.site_id }
    const permission = memberships.requirePart(name, 'set_destination')
    await agencies.setRole(name, 'member')
    expect(await sites.setDestination(site, undefined, permission)).toBe(false)
    expect(await sites.confirm(site, memberships.requirePart(name, 'confirm'))).toBe(true)
    expect(await agencies.leave(name, ['owner'])).toBe(false)
  })
})
