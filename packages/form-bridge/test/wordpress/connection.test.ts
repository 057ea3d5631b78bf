import { expect, test } from 'vitest'
import {
  connect,
  inWordPress,
  PAGE,
  siteIdOf,
  statusOf,
  submit,
  waitUntilConnected,
  waiting,
  pageText,
} from './in-wordpress.ts'

inWordPress('a site and the service', (fixture) => {
  let siteId = ''

  test('the settings page of an unconnected site sends no request to the service', async () => {
    const { site, service } = fixture
    expect(await pageText(site)).toContain('Not connected')
    expect(service.proxy.requests).toEqual([])
  })

  test('requests without a nonce or without the capability are rejected', async () => {
    const { site } = fixture
    const body = new URLSearchParams({ action: 'form_bridge', do: 'connect' })
    const forged = await site.page('/wp-admin/admin-post.php', { method: 'POST', body })
    expect(forged.status).toBe(403)
    const step = '/wp-admin/admin-ajax.php?action=form_bridge_next_step'
    expect((await site.page(step, { method: 'POST' })).status).toBe(403)
    expect((await fetch(site.url + step, { method: 'POST' })).status).toBe(400)
    expect(await site.php('return get_option( "form_bridge_connecting" );')).toBe(false)
  })

  test('behind a firewall the page lists the attempts and other ways to prove the address', async () => {
    const { site, service } = fixture
    await site.block('firewall')
    await expect(connect(site)).rejects.toThrow('Not connected')
    const words = await pageText(site)
    for (const method of ['REST API', 'File', 'Meta tag on the front page', 'DNS record'])
      expect(words).toContain(method)
    expect(words).toMatch(/_form-bridge\.127\.0\.0\.1 fb1=[0-9a-f]{64}/)
    await site.block('nothing')
    service.proxy.requests.length = 0
    await site.press('retry')
    await waitUntilConnected(site)
    // The pending registration is used again, so its published proofs stay valid.
    expect(service.proxy.requests).not.toContain('POST /form-bridge/v1/register')
    await site.press('disconnect')
    expect(await statusOf(site)).toBe('not_connected')
    service.proxy.requests.length = 0
  })

  test('the button connects the site in the background', async () => {
    const { site, service } = fixture
    await site.press('connect')
    expect(service.proxy.requests).toEqual([])
    await waitUntilConnected(site)
    expect(await statusOf(site)).toBe('connected')
    siteId = await siteIdOf(site)
    const { domain, status } = await service.operator('GET', `/sites/${siteId}`)
    expect({ domain, status }).toEqual({ domain: new URL(site.url).host, status: 'active' })
  })

  test('the settings page shows no secret', async () => {
    const text = await pageText(fixture.site)
    expect(text).toContain(siteId)
    expect(text).toMatch(/fb_live_[0-9a-f]{8}_•/)
    expect(text).not.toMatch(/fb_live_[0-9a-f]{8}_[A-Za-z0-9]/)
    expect(text).not.toMatch(/fb_whs_[A-Za-z0-9]/)
  })

  test('a connected site does not answer challenges', async () => {
    const path = `/wp-json/form-bridge/v1/verify?challenge=${'a'.repeat(32)}&registration_id=reg_x`
    expect((await fixture.site.page(path)).status).toBe(404)
    expect((await fixture.site.page('/.well-known/form-bridge-verification.txt')).status).toBe(404)
  })

  test('a heartbeat is signed, and includes versions only with consent', async () => {
    const { site, service } = fixture
    await site.cron('form_bridge_heartbeat')
    expect(service.proxy.requests).toContain('POST /form-bridge/v1/site/heartbeat')
    expect(await statusOf(site)).toBe('connected')
    expect(await service.operator('GET', `/sites/${siteId}`)).toMatchObject({ php_version: null })
    const next = await site.php<number>(
      'return wp_next_scheduled( "form_bridge_heartbeat" ) - time();',
    )
    expect(next).toBeGreaterThan(60)
  })

  test('a wrong clock is corrected by the next request', async () => {
    const { site } = fixture
    await site.php('update_option( "form_bridge_clock_offset", 5000 );')
    await site.press('check')
    expect(await pageText(site)).toContain('The service recognizes this site.')
    const offset = await site.php<number>('return get_option( "form_bridge_clock_offset" );')
    expect(Math.abs(offset)).toBeLessThan(60)
  })

  test('a submission is delivered and then deleted from the queue', async () => {
    const { site, service } = fixture
    await submit(site, 'Zoë')
    expect(await waiting(site)).toBe(1)
    await site.cron('form_bridge_send')
    expect(await waiting(site)).toBe(0)
    expect(service.destination.received).toMatchObject([
      { form_id: 'contact', fields: { name: 'Zoë' }, page_url: `${site.url}/contact/` },
    ])
  })

  test('comments are sent only after the owner opts in, and spam is never sent', async () => {
    const { site, service } = fixture
    const comment = (text: string) =>
      fetch(`${site.url}/wp-comments-post.php`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({
          comment_post_ID: '1',
          author: 'Ada',
          email: 'ada@example.com',
          comment: text,
        }),
      })
    service.destination.received.length = 0
    expect((await comment('Before')).status).toBe(302)
    await site.press('settings', { comments: '1' })
    expect((await comment('After')).status).toBe(302)
    await site.php('update_option( "disallowed_keys", "cheap pills" );')
    await comment('Buy cheap pills')
    await site.cron('form_bridge_send')
    expect(service.destination.received).toMatchObject([
      {
        form_id: 'comments',
        fields: { author: 'Ada', email: 'ada@example.com', comment: 'After' },
      },
    ])
  })

  test('rotated keys replace the old ones, which keep working for a day', async () => {
    const { site } = fixture
    const keys = () =>
      site.php<{ api_key: string }>('return ( new FormBridge\\Services() )->credentials->load();')
    const old = await keys()
    await site.press('rotate')
    expect((await keys()).api_key).not.toBe(old.api_key)
    expect(await statusOf(site)).toBe('connected')
    const withOldKey = await fetch(`${fixture.service.url}/v1/site`, {
      headers: { authorization: `Bearer ${old.api_key}` },
    })
    expect(withOldKey.status).toBe(200)
  })

  test('a suspended site keeps its submissions and sends them when it is resumed', async () => {
    const { site, service } = fixture
    service.destination.received.length = 0
    await service.operator('POST', `/sites/${siteId}/suspend`)
    await submit(site, 'during')
    await site.cron('form_bridge_send')
    expect([await statusOf(site), await waiting(site)]).toEqual(['suspended', 1])
    expect(await pageText(site)).toContain('Suspended')
    await service.operator('POST', `/sites/${siteId}/resume`)
    await site.cron('form_bridge_heartbeat')
    expect(await statusOf(site)).toBe('connected')
    await submit(site, 'after')
    await site.cron('form_bridge_send')
    expect(service.destination.received).toMatchObject([
      { fields: { name: 'during' } },
      { fields: { name: 'after' } },
    ])
  })

  test('a site that lost its database reconnects as the same site, and its old keys are revoked', async () => {
    const { site, service } = fixture
    const destination = Buffer.from(JSON.stringify({ url: service.destination.url }))
    await service.operator('PUT', `/sites/${siteId}/destination`, destination, {
      'content-type': 'application/json',
    })
    const old = await site.php<{ api_key: string }>(
      'return ( new FormBridge\\Services() )->credentials->load();',
    )
    await site.php(
      '( new FormBridge\\SiteService( new FormBridge\\Services() ) )->delete_local_data();',
    )
    expect(await statusOf(site)).toBe('not_connected')
    // The REST API requires a login, so the well-known file is the proof.
    await site.block('rest')
    let provedBy: unknown
    service.proxy.tamper = ({ path, body }) => {
      if (path.endsWith('/exchange')) provedBy = JSON.parse(body.toString()).proved_by
    }
    await connect(site)
    service.proxy.tamper = undefined
    await site.block('nothing')
    expect([await siteIdOf(site), provedBy]).toEqual([siteId, 'well_known'])
    const withOldKey = await fetch(`${service.url}/v1/site`, {
      headers: { authorization: `Bearer ${old.api_key}` },
    })
    expect(withOldKey.status).toBe(401)
  })

  test('a site that reconnected without its old key sends submissions only after a confirmation', async () => {
    const { site, service } = fixture
    service.destination.received.length = 0
    expect(await pageText(site)).toContain('must confirm')
    await submit(site, 'kept')
    await site.cron('form_bridge_send')
    expect([await waiting(site), service.destination.received.length]).toEqual([1, 0])
    await service.operator('POST', `/sites/${siteId}/confirm`)
    await site.press('send')
    expect(service.destination.received).toMatchObject([{ fields: { name: 'kept' } }])
  })

  test('a site whose salts have changed is reconnected with one click', async () => {
    const { site } = fixture
    await site.define({ FORM_BRIDGE_ENVIRONMENT: 'staging' })
    await site.changeSalts()
    await site.signIn()
    expect(await statusOf(site)).toBe('unreadable')
    expect(await pageText(site)).toContain('The keys cannot be read')
    await connect(site)
    expect([await statusOf(site), await siteIdOf(site)]).toEqual(['connected', siteId])
  })

  test('keys in wp-config.php take precedence and are not in the database', async () => {
    const { site } = fixture
    const keys = await site.php<{ site_id: string; api_key: string; secret: string }>(
      'return ( new FormBridge\\Services() )->credentials->load();',
    )
    await site.php('delete_option( "form_bridge_credentials" );')
    await site.define({
      FORM_BRIDGE_SITE_ID: keys.site_id,
      FORM_BRIDGE_API_KEY: keys.api_key,
      FORM_BRIDGE_SECRET: keys.secret,
    })
    await site.press('check')
    const text = await pageText(site)
    expect(text).toContain('The service recognizes this site.')
    expect(text).toContain('wp form-bridge rotate')
  })

  test('the page does not replace rejected keys in wp-config.php, and valid ones work again', async () => {
    const { site } = fixture
    const keys = await site.php<{ site_id: string; api_key: string; secret: string }>(
      'return ( new FormBridge\\Services() )->credentials->load();',
    )
    const constants = { FORM_BRIDGE_SITE_ID: keys.site_id, FORM_BRIDGE_API_KEY: keys.api_key }
    await site.define({ ...constants, FORM_BRIDGE_SECRET: 'fb_whs_mistyped' })
    await site.press('check')
    expect(await pageText(site)).toContain('Replace them there, or remove them')
    expect((await site.page(PAGE)).text).not.toContain('name="do" value="connect"')
    await site.define({ ...constants, FORM_BRIDGE_SECRET: keys.secret })
    await site.press('check')
    expect(await pageText(site)).toContain('The service recognizes this site.')
  })

  test('deleting a site of a network drops its queue', async () => {
    const dropped = `return in_array( $GLOBALS['wpdb']->prefix . 'form_bridge_queue', apply_filters( 'wpmu_drop_tables', array(), 1 ), true );`
    expect(await fixture.site.php(dropped)).toBe(true)
  })

  test('deleting the plugin disconnects the site and deletes all its data', async () => {
    const { site, service } = fixture
    await site.php(
      `deactivate_plugins( 'form-bridge/form-bridge.php' ); return delete_plugins( array( 'form-bridge/form-bridge.php' ) );`,
    )
    expect((await service.operator('GET', `/sites/${siteId}`))['status']).toBe('disabled')
    const left = await site.php<string[]>(
      `global $wpdb; return array_merge(
        $wpdb->get_col( "SELECT option_name FROM $wpdb->options WHERE option_name LIKE '%form_bridge%'" ),
        $wpdb->get_col( "SHOW TABLES LIKE '%form_bridge%'" ),
        array_filter( array_keys( array_merge( ...array_values( _get_cron_array() ) ) ), function ( $hook ) { return false !== strpos( $hook, 'form_bridge' ); } )
      );`,
    )
    expect(left).toEqual([])
  })
})
