import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { concurrently, type ConnectedSite, createTestService } from '../support/test-service.ts'
import { newKeys } from '../support/test-stores.ts'

describe.each(serviceStores())('a move that an admin approves on $name', (store) => {
  const service = createTestService(store)
  const approve = ({ site_id }: Pick<ConnectedSite, 'site_id'>, site_url: string) =>
    service.call('PUT', `/sites/${site_id}/move`, { token: service.operator, body: { site_url } })
  const statusOf = async (site: ConnectedSite) =>
    (await service.signed(site, 'GET', '/site')).status

  test('gives the site that proves the address the id, agency and destination of the old one', async () => {
    const { agency_id, api_key } = await service.agency()
    const join_token = await service.joinToken(api_key)
    const site = await service.connected({ join_token })
    const body = { url: 'https://collector.example/forms' }
    const destination = `/sites/${site.site_id}/destination`
    await service.call('PUT', destination, { token: service.operator, body })
    const target = service.host.site()
    const approved = await approve(site, target.url)
    const { site_id } = site
    const expires_at = new Date(service.clock.now() + 86_400_000).toISOString()
    expect(approved.body).toEqual({ site_id, domain: target.domain, expires_at })
    expect(await service.stores.raw(`SITE#${target.domain}`, 'MOVE')).toEqual({
      PK: `SITE#${target.domain}`,
      SK: 'MOVE',
      domain: target.domain,
      site_id,
      created_at: new Date(service.clock.now()).toISOString(),
      expires_at,
      ttl: Date.parse(expires_at) / 1000,
    })
    const moved = await service.connected({}, target)
    expect(moved).toMatchObject({ result: 'moved', site_id, domain: target.domain })
    expect(await statusOf(site)).toBe(401)
    expect(await statusOf(moved)).toBe(200)
    const shown = await service.call('GET', `/sites/${site_id}`, { token: service.operator })
    expect(shown.body).toMatchObject({
      domain: target.domain,
      has_destination: true,
      agencies: [agency_id],
    })
    expect(await service.stores.raw(`SITE#${target.domain}`, 'MOVE')).toBeUndefined()
  })

  test('is used up by exactly one of several exchanges, and by none after it has expired', async () => {
    const { siteMoves, register, sites } = service.stores
    const site = await service.connected()
    const target = service.host.site()
    const moves = async () => {
      const approval = await siteMoves.findApproved(target.domain)
      const registrations = await concurrently(5, () => register(target.domain))
      const read = await sites.get(site)
      return async () => {
        const outcomes = await Promise.all(
          registrations.map((each) => siteMoves.move(each, read!, newKeys(), approval)),
        )
        return outcomes.filter(({ kind }) => kind === 'moved').length
      }
    }
    await approve(site, target.url)
    const late = await moves()
    service.clock.advance({ hours: 24 })
    await approve(site, service.host.site().url)
    expect(await late()).toBe(0)
    await approve(site, target.url)
    expect(await (await moves())()).toBe(1)
    expect((await sites.findByDomain(target.domain))?.site_id).toBe(site.site_id)
    expect(await sites.findByDomain(site.domain)).toBeUndefined()
  })

  test('applies to its address only, for a day', async () => {
    const site = await service.connected()
    const [target, other] = [service.host.site(), service.host.site()]
    await approve(site, target.url)
    expect(await service.connected({}, other)).toMatchObject({ result: 'connected' })
    service.clock.advance({ hours: 24 })
    const late = await service.connected({}, target)
    expect(late).toMatchObject({ result: 'connected' })
    expect(late.site_id).not.toBe(site.site_id)
    expect(await statusOf(site)).toBe(200)
  })

  test('does not replace the signature of another site', async () => {
    const [site, other] = [await service.connected(), await service.connected()]
    const target = service.host.site()
    await approve(site, target.url)
    await service.register(target)
    const refused = await service.exchange(target, { previous_api_key: other.api_key })
    expect(refused).toMatchObject({ status: 403, code: 'form-bridge.signature_required' })
    const own = await service.exchange(target, { previous_api_key: site.api_key })
    expect(own.body).toMatchObject({ result: 'moved', site_id: site.site_id })
  })

  test('does not happen while the site is suspended', async () => {
    const site = await service.connected()
    const target = service.host.site()
    await approve(site, target.url)
    await service.call('POST', `/sites/${site.site_id}/suspend`, { token: service.operator })
    await service.register(target)
    const refused = await service.exchange(target)
    expect(refused).toMatchObject({ status: 403, code: 'form-bridge.site_suspended' })
    const again = await approve(site, service.host.site().url)
    expect(again).toMatchObject({ status: 409, code: 'form-bridge.wrong_status' })
    expect(again.body.error.data).toMatchObject({ status: 'suspended' })
  })

  test('is refused for an address that has a site or cannot have one, and for an unknown site', async () => {
    const [site, other] = [await service.connected(), await service.connected()]
    for (const { url } of [site.wordpress, other.wordpress]) {
      const taken = await approve(site, url)
      expect(taken).toMatchObject({ status: 409, code: 'form-bridge.domain_has_site' })
    }
    const invalid = await approve(site, 'ftp://example.org')
    expect(invalid).toMatchObject({ status: 400, code: 'form-bridge.domain_invalid' })
    const unknown = await approve({ site_id: 'site_0123456789abcdef' }, 'https://new.example.org')
    expect(unknown).toMatchObject({ status: 404, code: 'form-bridge.site_not_found' })
  })
})
