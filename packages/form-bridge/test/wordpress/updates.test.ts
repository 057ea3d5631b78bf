import { beforeAll, expect, test } from 'vitest'
import type { ProxiedResponse } from './intercepting-proxy.ts'
import { connect, inWordPress, siteIdOf } from './in-wordpress.ts'

const PLUGIN = 'form-bridge/form-bridge.php'

interface Offered {
  new_version?: string
  package?: string
}

inWordPress('plugin updates', (fixture) => {
  beforeAll(async () => {
    await connect(fixture.site)
    const { service, site } = fixture
    await service.publish('1.1.0')
    // These tests send more update checks in a minute than a site does in a day.
    const limits = Buffer.from(JSON.stringify({ limits: { minute: 1000 } }))
    await service.operator('PUT', `/rate-limits/update_check/${await siteIdOf(site)}`, limits, {
      'content-type': 'application/json',
    })
  })

  /** The update check that WordPress runs twice a day. */
  async function check(): Promise<{ response?: Offered; no_update?: Offered }> {
    return fixture.site.php(
      `define( 'DOING_CRON', true );
      delete_site_transient( 'update_plugins' );
      wp_update_plugins();
      $found = get_site_transient( 'update_plugins' );
      return array_filter( array(
        'response' => $found->response['${PLUGIN}'] ?? null,
        'no_update' => $found->no_update['${PLUGIN}'] ?? null,
      ) );`,
    )
  }

  /** Runs the update as the "Update" button does. */
  async function update(): Promise<{ version: string; active: boolean; error: string | null }> {
    return fixture.site.php(
      `require_once ABSPATH . 'wp-admin/includes/class-wp-upgrader.php';
      $skin = new Automatic_Upgrader_Skin();
      // The maintenance file would affect all sites, because they share the WordPress files.
      $upgrader = new class( $skin ) extends Plugin_Upgrader { public function maintenance_mode( $enable = false ) {} };
      $result = $upgrader->bulk_upgrade( array( '${PLUGIN}' ) );
      $outcome = $result['${PLUGIN}'];
      $error = is_wp_error( $outcome ) ? $outcome->get_error_code() : null;
      return array(
        'version' => get_plugin_data( WP_PLUGIN_DIR . '/${PLUGIN}' )['Version'],
        'active' => is_plugin_active( '${PLUGIN}' ),
        'error' => $error,
      );`,
    )
  }

  function tamperWithUpdates(change: (offer: Record<string, unknown>) => void) {
    fixture.service.proxy.tamper = (response: ProxiedResponse) => {
      if (!response.path.includes('/updates/check')) return
      const offer = JSON.parse(response.body.toString()) as Record<string, unknown>
      change(offer)
      response.body = Buffer.from(JSON.stringify(offer))
    }
  }

  test('WordPress considers the release compatible with the patch level of the site', async () => {
    expect(await check()).toHaveProperty('response')
    const { text } = await fixture.site.page('/wp-admin/update-core.php')
    expect(text).toMatch(/Compatibility with WordPress [\d.]+: (?:100%|Yes) \(according/)
    expect(text).not.toMatch(/Compatibility with WordPress [\d.]+: (?:Unknown|Not tested)/)
  })

  const unchanged = { version: '1.0.0', active: true }

  test.each([
    ['without a signature', (offer: Record<string, unknown>) => delete offer['signature']],
    [
      'with a signature of another key',
      (offer: Record<string, unknown>) =>
        (offer['signature'] = Buffer.alloc(64, 7).toString('base64')),
    ],
    [
      'with a version that was not signed',
      (offer: Record<string, unknown>) => (offer['version'] = '9.9.9'),
    ],
    [
      'with the hash of another package',
      (offer: Record<string, unknown>) => (offer['sha256'] = 'ab'.repeat(32)),
    ],
  ])('a release %s is not offered', async (_, change) => {
    tamperWithUpdates(change)
    const { response, no_update } = await check()
    fixture.service.proxy.tamper = undefined
    expect(response).toBeUndefined()
    // Always present, because WordPress needs it to show the auto-update switch.
    expect(no_update?.new_version).toBe('1.0.0')
  })

  test.each([
    ['form_bridge_unsigned', `unset( $offer['signature'] );`],
    ['form_bridge_signature', `$offer['signature'] = base64_encode( str_repeat( 'x', 64 ) );`],
    ['form_bridge_signature', `$offer['version'] = '9.9.9';`],
    ['form_bridge_older', `$offer['version'] = '0.9.0';`],
  ])('a forged offer in the database is rejected with %s: %s', async (error, change) => {
    await check()
    await fixture.site.php(
      `$offer = get_site_option( 'form_bridge_offer' ); ${change} update_site_option( 'form_bridge_offer', $offer );`,
    )
    expect(await update()).toEqual({ ...unchanged, error })
  })

  test('a package with another hash is rejected before it is unpacked', async () => {
    const { service } = fixture
    expect((await check()).response?.new_version).toBe('1.1.0')
    const other = await service.plugin('1.1.1')
    service.proxy.tamper = (response) => {
      if (response.path.includes('/download')) response.body = other
    }
    expect(await update()).toEqual({ ...unchanged, error: 'form_bridge_hash' })
    service.proxy.tamper = undefined
  })

  test('a changed package URL is ignored', async () => {
    const { site, service } = fixture
    await check()
    service.proxy.requests.length = 0
    await site.php(
      `$found = get_site_transient( 'update_plugins' );
      $found->response['${PLUGIN}']->package = 'http://127.0.0.1:1/evil.zip';
      set_site_transient( 'update_plugins', $found );`,
    )
    service.proxy.state = 'refusing'
    expect((await update()).version).toBe('1.0.0')
    service.proxy.state = 'up'
    expect(service.proxy.requests).toEqual([
      'GET /form-bridge/v1/plugins/form-bridge/1.1.0/download',
    ])
  })

  test('translations that the service adds to a signed release are not installed', async () => {
    tamperWithUpdates((offer) => {
      offer['translations'] = [{ language: 'de_DE', package: 'http://127.0.0.1:1/evil.zip' }]
      offer['autoupdate'] = true
    })
    expect((await check()).response).not.toHaveProperty('autoupdate')
    fixture.service.proxy.tamper = undefined
    expect(await fixture.site.php(`return wp_get_translation_updates();`)).toEqual([])
  })

  test('WordPress shows the release, its details and the auto-update switch', async () => {
    const { site } = fixture
    await check()
    const { text } = await site.page('/wp-admin/plugins.php')
    expect(text).toContain('There is a new version of Form-Bridge available')
    expect(text).toContain('Enable auto-updates')
    const modal = await site.page(
      '/wp-admin/plugin-install.php?tab=plugin-information&plugin=form-bridge&section=changelog',
    )
    expect(modal.status).toBe(200)
    expect(modal.text).toContain('First release.')
    expect(modal.text).not.toContain('critical error')
  })

  test('WordPress installs the release, and the plugin stays active and connected', async () => {
    const { site, service } = fixture
    await check()
    expect(await update()).toEqual({ version: '1.1.0', active: true, error: null })
    const { status, version } = await site.php<{ status: string; version: string }>(
      `return array( 'status' => ( new FormBridge\\Services() )->status(), 'version' => FORM_BRIDGE_VERSION );`,
    )
    expect({ status, version }).toEqual({ status: 'connected', version: '1.1.0' })
    await check()
    const { items } = await service.operator('GET', '/adoption/1.1.0/sites')
    expect(items).toMatchObject([{ domain: new URL(site.url).host }])
  })

  test('an older release is neither offered nor installed', async () => {
    const { site } = fixture
    const { response, no_update } = await check()
    expect([response, no_update?.new_version]).toEqual([undefined, '1.1.0'])
    await site.php(
      `$found = get_site_transient( 'update_plugins' );
      $found->response['${PLUGIN}'] = $found->no_update['${PLUGIN}'];
      $found->response['${PLUGIN}']->package = 'http://127.0.0.1:1/older.zip';
      set_site_transient( 'update_plugins', $found );`,
    )
    expect(await update()).toEqual({ version: '1.1.0', active: true, error: 'form_bridge_older' })
  })
})
