import { expect, test, vi } from 'vitest'
import { inWordPress, PAGE, statusOf, submit, waiting, pageText } from './in-wordpress.ts'

inWordPress('during an outage of the service', (fixture) => {
  test('cron connects the site without an open page', async () => {
    const { site } = fixture
    await site.press('connect')
    await vi.waitUntil(
      async () => {
        await site.cron('form_bridge_connect')
        return (await statusOf(site)) === 'connected'
      },
      { timeout: 40_000, interval: 500 },
    )
    await site.cron('form_bridge_send')
    await site.cron('form_bridge_heartbeat')
    expect(await waiting(site)).toBe(0)
  })

  const pages = [
    '/',
    '/sample-page/',
    '/wp-json/wp/v2/posts',
    '/wp-login.php?action=lostpassword',
    '/wp-admin/',
    '/wp-admin/plugins.php',
    '/wp-admin/update-core.php',
    '/wp-admin/plugin-install.php?tab=plugin-information&plugin=form-bridge',
    PAGE,
  ]

  test.each(['refusing', 'silent'] as const)(
    'no page sends a request to a service that is %s',
    async (state) => {
      const { site, service } = fixture
      service.proxy.state = state
      service.proxy.requests.length = 0
      // Also when a WordPress update check is due.
      await site.php(`delete_site_transient( 'update_plugins' );`)
      await site.httpCalls()
      for (const path of pages) {
        expect([path, (await site.page(path)).status]).toEqual([path, 200])
      }
      const host = new URL(service.url).host
      const calls = (await site.httpCalls()).filter(({ url }) => new URL(url).host === host)
      expect(calls).toEqual([])
      expect(service.proxy.requests).toEqual([])
    },
  )

  test('a submission is queued without a request to the service', async () => {
    const { site, service } = fixture
    service.proxy.state = 'silent'
    service.proxy.requests.length = 0
    await site.press('settings', { comments: '1' })
    const comment = await fetch(`${site.url}/wp-comments-post.php`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({
        comment_post_ID: '1',
        author: 'Ada',
        email: 'ada@example.com',
        comment: 'While it is down',
      }),
    })
    expect(comment.status).toBe(302)
    expect(service.proxy.requests).toEqual([])
    expect(await waiting(site)).toBe(1)
  })

  test('background jobs send one request and then back off', async () => {
    const { site, service } = fixture
    service.proxy.state = 'refusing'
    service.proxy.requests.length = 0
    await site.cron('form_bridge_send')
    await submit(site, 'one more')
    await site.cron('form_bridge_send')
    await site.cron('form_bridge_heartbeat')
    expect(service.proxy.requests).toEqual(['POST /form-bridge/v1/webhook'])
    expect(await pageText(site)).toContain('The service is not responding')
    expect([await statusOf(site), await waiting(site)]).toEqual(['connected', 2])
  })

  test('no submission is lost, and one whose response was lost is sent again with the same id', async () => {
    const { site, service } = fixture
    service.proxy.state = 'up'
    service.destination.received.length = 0
    // The destination receives it, but the response is lost.
    service.proxy.tamper = (response) => {
      if (response.path.endsWith('/webhook')) response.status = 504
    }
    await site.php(`delete_option( 'form_bridge_outage' );`)
    await submit(site, 'last')
    await site.cron('form_bridge_send')
    expect(await waiting(site)).toBe(3)
    service.proxy.tamper = undefined
    await site.php(`delete_option( 'form_bridge_outage' );`)
    await submit(site, 'after')
    await site.cron('form_bridge_send')
    expect(await waiting(site)).toBe(0)
    const byId = new Map(
      service.destination.received.map(({ submission_id, fields }) => [submission_id, fields]),
    )
    const fields = [...byId.values()]
    expect(fields).toHaveLength(4)
    for (const name of ['one more', 'last', 'after']) expect(fields).toContainEqual({ name })
    expect(fields).toContainEqual(expect.objectContaining({ comment: 'While it is down' }))
  })

  test('a submission that a firewall always blocks does not delay the others', async () => {
    const { site, service } = fixture
    service.destination.received.length = 0
    await submit(site, 'like an attack')
    await submit(site, 'harmless')
    service.proxy.tamper = (response) => {
      const sent = JSON.stringify(service.destination.received.at(-1))
      if (response.path.endsWith('/webhook') && sent.includes('like an attack'))
        response.body = Buffer.from('<html>Blocked</html>')
    }
    await site.cron('form_bridge_send')
    expect(await waiting(site)).toBe(2)
    await site.php(`delete_option( 'form_bridge_outage' );`)
    await submit(site, 'more')
    await site.cron('form_bridge_send')
    expect(await waiting(site)).toBe(1)
    service.proxy.tamper = undefined
    await site.php(`delete_option( 'form_bridge_outage' );`)
    await site.cron('form_bridge_send')
    expect(await waiting(site)).toBe(0)
  })

  test('two concurrent runs send each submission once', async () => {
    const { site, service } = fixture
    service.destination.received.length = 0
    for (const name of ['a', 'b', 'c']) await submit(site, name)
    await Promise.all([site.cron('form_bridge_send'), site.cron('form_bridge_send')])
    await site.cron('form_bridge_send')
    expect(service.destination.received.map(({ fields }) => fields)).toMatchObject([
      { name: 'a' },
      { name: 'b' },
      { name: 'c' },
    ])
  })

  test('a submission that the service rejects is kept and shown to the owner', async () => {
    const { site } = fixture
    await site.php(
      `do_action( 'form_bridge_submit', 'upload', array( 'file' => str_repeat( 'x', 1100000 ) ) );`,
    )
    await submit(site, 'small')
    await site.cron('form_bridge_send')
    expect(await waiting(site)).toBe(0)
    expect(await pageText(site)).toContain('1 was rejected and is kept')
    await site.press('delete')
    expect(await pageText(site)).toContain('The rejected submissions were deleted.')
  })

  test('setting the clock back delays no submission, lock or cron event', async () => {
    const { site, service } = fixture
    service.proxy.state = 'up'
    service.destination.received.length = 0
    await submit(site, 'scheduled in the future')
    await site.php(`
      global $wpdb;
      $later = time() + 30 * DAY_IN_SECONDS;
      $wpdb->query( "UPDATE {$wpdb->prefix}form_bridge_queue SET due_at = $later" );
      $wpdb->insert( $wpdb->options, array( 'option_name' => 'form_bridge_lock_send', 'option_value' => $later, 'autoload' => 'no' ) );
      foreach ( array( 'form_bridge_send', 'form_bridge_heartbeat' ) as $hook ) { wp_unschedule_hook( $hook ); }
      wp_schedule_event( $later, 'form_bridge_five_minutes', 'form_bridge_send' );
      wp_schedule_single_event( $later, 'form_bridge_heartbeat' );`)
    await site.page('/')
    const ahead = (hook: string) =>
      site.php<number>(`return wp_next_scheduled( '${hook}' ) - time();`)
    expect(await ahead('form_bridge_send')).toBeLessThanOrEqual(300)
    expect(await ahead('form_bridge_heartbeat')).toBeLessThanOrEqual(43_200)
    await site.cron('form_bridge_send')
    expect(await waiting(site)).toBe(0)
    expect(service.destination.received).toMatchObject([
      { fields: { name: 'scheduled in the future' } },
    ])
  })
})
