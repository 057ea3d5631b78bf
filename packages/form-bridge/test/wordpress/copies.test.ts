import { beforeAll, expect, test } from 'vitest'
import {
  connect,
  inWordPress,
  siteIdOf,
  statusOf,
  submit,
  waiting,
  pageText,
} from './in-wordpress.ts'
import type { WordPressSite } from './wordpress-site.ts'

inWordPress('copies and moves of a site', (fixture) => {
  let siteId = ''

  beforeAll(async () => {
    await connect(fixture.site)
    siteId = await siteIdOf(fixture.site)
    // Still queued when the copies are made, so the site and its copies all have it.
    await submit(fixture.site, 'of the original')
  })

  async function activeSites(): Promise<string[]> {
    const { items } = await fixture.service.operator('GET', '/sites')
    return (items as { domain: string }[]).map(({ domain }) => domain).toSorted()
  }

  function host(site: WordPressSite): string {
    return new URL(site.url).host
  }

  test('a copy detects that it is one, sends nothing, and asks its owner what happened', async () => {
    const { service } = fixture
    const copy = await fixture.copy()
    service.proxy.requests.length = 0
    await submit(copy, 'of the copy')
    await copy.cron('form_bridge_send')
    await copy.cron('form_bridge_heartbeat')
    expect(await statusOf(copy)).toBe('moved')
    expect(service.proxy.requests).toEqual([])
    expect(await waiting(copy)).toBe(2)
    expect(await pageText(copy)).toContain('This is a staging copy')
    const dashboard = await copy.page('/wp-admin/plugins.php')
    expect(dashboard.text).toContain('The site address has changed')
    expect(await statusOf(fixture.site)).toBe('connected')
  })

  test('the service rejects a copy that does not detect that it is one', async () => {
    const copy = await fixture.copy()
    await copy.php(
      `$services = new FormBridge\\Services(); $old = $services->credentials->load();
      $services->credentials->save( new FormBridge\\Credentials( $old->site_id, $old->api_key, $old->secret, home_url() ) );`,
    )
    expect(await statusOf(copy)).toBe('connected')
    await copy.cron('form_bridge_send')
    expect([await statusOf(copy), await waiting(copy)]).toEqual(['moved', 1])
    expect(fixture.service.destination.received).toEqual([])
    expect((await fixture.service.operator('GET', `/sites/${siteId}`))['status']).toBe('active')
  })

  test('a copy whose tables contain the new address does not send submissions of the original', async () => {
    const copy = await fixture.copy()
    const [from, to] = [host(fixture.site), host(copy)]
    await copy.php(
      `global $wpdb; $wpdb->query( "UPDATE {$wpdb->prefix}form_bridge_queue SET home = REPLACE( home, '${from}', '${to}' ), payload = REPLACE( payload, '${from}', '${to}' )" );`,
    )
    await connect(copy, 'staging')
    expect([await statusOf(copy), await waiting(copy)]).toEqual(['connected', 0])
    await copy.press('disconnect')
  })

  test('a staging copy becomes a separate site and does not send submissions of the original', async () => {
    const { service, site } = fixture
    const copy = await fixture.copy()
    await submit(copy, 'of the copy')
    await connect(copy, 'staging')
    expect(await statusOf(copy)).toBe('connected')
    const copyId = await siteIdOf(copy)
    expect(copyId).not.toBe(siteId)
    expect(await service.operator('GET', `/sites/${copyId}`)).toMatchObject({
      environment: 'staging',
    })
    await copy.cron('form_bridge_send')
    await site.cron('form_bridge_send')
    expect(service.destination.received).toMatchObject([
      { site_id: copyId, fields: { name: 'of the copy' } },
      { site_id: siteId, fields: { name: 'of the original' } },
    ])
    expect(await activeSites()).toEqual([host(copy), host(site)].toSorted())
  })

  test('a copy that is deleted does not disconnect the original', async () => {
    const copy = await fixture.copy()
    await copy.php(
      `deactivate_plugins( 'form-bridge/form-bridge.php' ); delete_plugins( array( 'form-bridge/form-bridge.php' ) );`,
    )
    await fixture.site.press('check')
    expect(await statusOf(fixture.site)).toBe('connected')
  })

  test('a moved site stays the same site, and the keys at the old address are rejected', async () => {
    const { service, site } = fixture
    service.destination.received.length = 0
    await submit(site, 'taken along')
    const moved = await fixture.copy()
    await connect(moved, 'move')
    expect(await siteIdOf(moved)).toBe(siteId)
    expect((await service.operator('GET', `/sites/${siteId}`))['domain']).toBe(host(moved))
    await moved.cron('form_bridge_send')
    expect(service.destination.received).toMatchObject([
      { site_id: siteId, fields: { name: 'taken along' } },
    ])
    await site.cron('form_bridge_send')
    expect([await statusOf(site), await waiting(site)]).toEqual(['rejected', 1])
  })
})
