import { beforeAll, expect, test } from 'vitest'
import {
  connect,
  inWordPress,
  siteIdOf,
  statusOf,
  submit,
  waiting,
  wordsOn,
} from './in-wordpress.ts'
import type { WordPressSite } from './wordpress-site.ts'

inWordPress('copies and moves of a site', (world) => {
  let siteId = ''

  beforeAll(async () => {
    await connect(world.site)
    siteId = await siteIdOf(world.site)
    // Not sent yet when the copies are made: both the site and its copies have it.
    await submit(world.site, 'of the original')
  })

  async function activeSites(): Promise<string[]> {
    const { items } = await world.service.operator('GET', '/sites')
    return (items as { domain: string }[]).map(({ domain }) => domain).toSorted()
  }

  function host(site: WordPressSite): string {
    return new URL(site.url).host
  }

  test('a copy notices that it is one, sends nothing, and asks its owner', async () => {
    const { service } = world
    const copy = await world.copy()
    service.between.asked.length = 0
    await submit(copy, 'of the copy')
    await copy.cron('form_bridge_send')
    await copy.cron('form_bridge_heartbeat')
    expect(await statusOf(copy)).toBe('moved')
    expect(service.between.asked).toEqual([])
    expect(await waiting(copy)).toBe(2)
    expect(await wordsOn(copy)).toContain('This is a staging copy')
    const dashboard = await copy.page('/wp-admin/plugins.php')
    expect(dashboard.text).toContain('The site address has changed')
    expect(await statusOf(world.site)).toBe('connected')
  })

  test('a copy that cannot know it is told by the service', async () => {
    const copy = await world.copy()
    await copy.php(
      `$with = new FormBridge\\Services(); $old = $with->credentials->load();
      $with->credentials->save( new FormBridge\\Credentials( $old->site_id, $old->api_key, $old->secret, home_url() ) );`,
    )
    expect(await statusOf(copy)).toBe('connected')
    await copy.cron('form_bridge_send')
    expect([await statusOf(copy), await waiting(copy)]).toEqual(['moved', 1])
    expect(world.service.destination.received).toEqual([])
    expect((await world.service.operator('GET', `/sites/${siteId}`))['status']).toBe('active')
  })

  test('a copy in whose tables the old address was replaced does not take what the original will send', async () => {
    const copy = await world.copy()
    const [from, to] = [host(world.site), host(copy)]
    await copy.php(
      `global $wpdb; $wpdb->query( "UPDATE {$wpdb->prefix}form_bridge_queue SET home = REPLACE( home, '${from}', '${to}' ), payload = REPLACE( payload, '${from}', '${to}' )" );`,
    )
    await connect(copy, 'staging')
    expect([await statusOf(copy), await waiting(copy)]).toEqual(['connected', 0])
    await copy.press('disconnect')
  })

  test('as a staging site a copy is a site of its own, and leaves the original its submissions', async () => {
    const { service, site } = world
    const copy = await world.copy()
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
    const copy = await world.copy()
    await copy.php(
      `deactivate_plugins( 'form-bridge/form-bridge.php' ); delete_plugins( array( 'form-bridge/form-bridge.php' ) );`,
    )
    await world.site.press('check')
    expect(await statusOf(world.site)).toBe('connected')
  })

  test('a site that has moved stays the same site, and what is left behind is not', async () => {
    const { service, site } = world
    service.destination.received.length = 0
    await submit(site, 'taken along')
    const moved = await world.copy()
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
