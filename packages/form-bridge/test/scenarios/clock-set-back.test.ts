import { serviceStores } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test } from 'vitest'
import { type CallApi, createTestService } from '../support/test-service.ts'

const HOUR = 3_600_000

describe.each(serviceStores())('after the clock of the server was set back, on $name,', (store) => {
  const service = createTestService(store)
  let back = 0
  let call: CallApi

  beforeAll(async () => {
    const now = () => service.clock.now() - back
    call = await service.another({}, { now, advance: (by) => service.clock.advance(by) })
  })

  const invalid = (peer: string) => {
    const body = { site_url: 'http://10.0.0.1/', wp_version: '6.8', plugin_version: '1.0.0' }
    return call('POST', '/register', { body, peer })
  }
  const detected = async () => {
    const path = '/abuse-patterns?type=invalid_domains&limit=100'
    return (await call('GET', path, { token: service.operator })).body.items.length
  }

  test('security events are recorded immediately', async () => {
    const site = await service.connected()
    const guess = async () => {
      const timestamp = Math.floor((service.clock.now() - back) / 1000)
      const forged = { timestamp, secret: 'fb_whs_guess' }
      await service.signed(site, 'GET', '/site', undefined, forged, call)
    }
    await guess()
    back += 24 * HOUR
    await guess()
    const { items } = await service.stores.securityEvents.listBySubject({ site_id: site.site_id })
    expect(items).toHaveLength(2)
  })

  test('failures of many hours do not count as failures of one hour', async () => {
    const peer = '192.0.2.70'
    const before = await detected()
    for (let n = 0; n < 5; n++) await invalid(peer)
    back += 48 * HOUR
    for (let n = 0; n < 5; n++) {
      await invalid(peer)
      service.clock.advance({ hours: 2 })
    }
    expect(await detected()).toBe(before)
  })

  test('no one is blocked for events in the future', async () => {
    const peer = '192.0.2.71'
    for (let n = 0; n < 30; n++) await invalid(peer)
    expect((await invalid(peer)).code).toBe('form-bridge.blocked')
    back += 24 * HOUR
    expect((await invalid(peer)).code).toBe('form-bridge.domain_invalid')
  })
})
