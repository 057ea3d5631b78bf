/** The plugin in a multisite network. */
import { beforeAll, expect, test } from 'vitest'
import { inWordPress } from './in-wordpress.ts'

const PAGE = '/wp-admin/network/settings.php?page=form-bridge'

inWordPress('a network', (fixture) => {
  const pageText = async () => {
    const { text } = await fixture.site.page(PAGE)
    const [own = ''] = /<div class="wrap form-bridge">[^]*?<div class="clear">/.exec(text) ?? []
    return { html: own, text: own.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ') }
  }

  beforeAll(async () => {
    const { site } = fixture
    const { host } = new URL(site.url)
    await site.php(`
      require_once ABSPATH . 'wp-admin/includes/network.php';
      require_once ABSPATH . 'wp-admin/includes/upgrade.php';
      global $wpdb;
      foreach ( $wpdb->tables( 'ms_global' ) as $table => $name ) { $wpdb->$table = $name; }
      install_network();
      populate_network( 1, '${host}', 'owner@example.com', 'A network', '/', false );
      return true;`)
    await site.define({
      MULTISITE: '1',
      SUBDOMAIN_INSTALL: '',
      DOMAIN_CURRENT_SITE: host,
      PATH_CURRENT_SITE: '/',
      SITE_ID_CURRENT_SITE: '1',
      BLOG_ID_CURRENT_SITE: '1',
    })
    await site.php(`
      update_site_option( 'active_sitewide_plugins', array( 'form-bridge/form-bridge.php' => time() ) );
      return wpmu_create_blog( '${host}', '/second/', 'Second', 1 );`)
    await site.signIn()
  })

  test('has a settings page that lists its sites with their status and undelivered submissions', async () => {
    const { text } = await pageText()
    expect(text).toMatch(
      /Site Status Undelivered submissions \S+ Not connected 0 \S+ Not connected 0/,
    )
    expect(text).toContain('Connect 2 sites')
  })

  test('rejects requests without a nonce or without the capability', async () => {
    const path = '/wp-admin/network/edit.php?action=form_bridge_network'
    const body = new URLSearchParams({ do: 'connect' })
    expect((await fixture.site.page(path, { method: 'POST', body })).status).toBe(403)
    const stranger = await fetch(fixture.site.url + path, {
      method: 'POST',
      body,
      redirect: 'manual',
    })
    expect(stranger.status).toBe(302)
    expect((await pageText()).text).toContain('Connect 2 sites')
  })

  test('connects its sites in the background from that page', async () => {
    const { html } = await pageText()
    const [form = ''] = /<form method="post"[^]*?value="connect"[^]*?<\/form>/.exec(html) ?? []
    const body = new URLSearchParams()
    for (const [, name = '', value = ''] of form.matchAll(/name="([^"]*)" value="([^"]*)"/g))
      body.set(name, value)
    const path = '/wp-admin/network/edit.php?action=form_bridge_network'
    expect((await fixture.site.page(path, { method: 'POST', body })).status).toBe(302)
    const { text } = await pageText()
    expect(text).toContain('2 sites are being connected in the background.')
    expect(text.match(/Connecting…/g)).toHaveLength(2)
    const scheduled = `switch_to_blog( 2 ); return array( wp_get_scheduled_event( 'form_bridge_connect', array( 0 ) ) !== false || array() !== array_filter( array_map( function ( $hooks ) { return isset( $hooks['form_bridge_connect'] ); }, _get_cron_array() ) ) );`
    expect(await fixture.site.php(scheduled)).toEqual([true])
  })
})
