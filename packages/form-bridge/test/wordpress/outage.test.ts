import { expect, test, vi } from 'vitest'
import { inWordPress, PAGE, statusOf, submit, waiting, wordsOn } from './in-wordpress.ts'

inWordPress('while the service is down', (world) => {
  test('while it was up the background connected the site, without an open page', async () => {
    const { site } = world
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

  test.each(['refusing', 'silent'] as const)('no page asks it: %s', async (state) => {
    const { site, service } = world
    service.between.state = state
    service.between.asked.length = 0
    // Also when WordPress finds that it is time to look for updates.
    await site.php(`delete_site_transient( 'update_plugins' );`)
    await site.httpCalls()
    for (const path of pages) {
      expect([path, (await site.page(path)).status]).toEqual([path, 200])
    }
    const host = new URL(service.url).host
    const calls = (await site.httpCalls()).filter(({ url }) => new URL(url).host === host)
    expect(calls).toEqual([])
    expect(service.between.asked).toEqual([])
  })

  test('a form is sent as quickly as ever, and its content is kept', async () => {
    const { site, service } = world
    service.between.state = 'silent'
    service.between.asked.length = 0
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
    expect(service.between.asked).toEqual([])
    expect(await waiting(site)).toBe(1)
  })

  test('the background asks once, remembers, and leaves it alone for a while', async () => {
    const { site, service } = world
    service.between.state = 'refusing'
    service.between.asked.length = 0
    await site.cron('form_bridge_send')
    await submit(site, 'one more')
    await site.cron('form_bridge_send')
    await site.cron('form_bridge_heartbeat')
    expect(service.between.asked).toEqual(['POST /form-bridge/v1/webhook'])
    expect(await wordsOn(site)).toContain('The service is not responding')
    expect([await statusOf(site), await waiting(site)]).toEqual(['connected', 2])
  })

  test('nothing is lost, not even what was on its way: each arrives under one id', async () => {
    const { site, service } = world
    service.between.state = 'up'
    service.destination.received.length = 0
    // The destination has it, but the answer gets lost.
    service.between.lie = (answer) => {
      if (answer.path.endsWith('/webhook')) answer.status = 504
    }
    await site.php(`delete_option( 'form_bridge_outage' );`)
    await submit(site, 'last')
    await site.cron('form_bridge_send')
    expect(await waiting(site)).toBe(3)
    service.between.lie = undefined
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

  test('one that something on the way never lets through does not hold up the others', async () => {
    const { site, service } = world
    service.destination.received.length = 0
    await submit(site, 'like an attack')
    await submit(site, 'harmless')
    service.between.lie = (answer) => {
      const sent = JSON.stringify(service.destination.received.at(-1))
      if (answer.path.endsWith('/webhook') && sent.includes('like an attack'))
        answer.body = Buffer.from('<html>Blocked</html>')
    }
    await site.cron('form_bridge_send')
    expect(await waiting(site)).toBe(2)
    await site.php(`delete_option( 'form_bridge_outage' );`)
    await submit(site, 'more')
    await site.cron('form_bridge_send')
    expect(await waiting(site)).toBe(1)
    service.between.lie = undefined
    await site.php(`delete_option( 'form_bridge_outage' );`)
    await site.cron('form_bridge_send')
    expect(await waiting(site)).toBe(0)
  })

  test('two runs at the same moment send each submission once', async () => {
    const { site, service } = world
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

  test('a submission that the service will never take is kept for its owner to see', async () => {
    const { site } = world
    await site.php(
      `do_action( 'form_bridge_submit', 'upload', array( 'file' => str_repeat( 'x', 1100000 ) ) );`,
    )
    await submit(site, 'small')
    await site.cron('form_bridge_send')
    expect(await waiting(site)).toBe(0)
    expect(await wordsOn(site)).toContain('1 was rejected and is kept')
    await site.press('delete')
    expect(await wordsOn(site)).toContain('The rejected submissions were deleted.')
  })

  test('after a clock was set back nothing waits for the time that it had shown', async () => {
    const { site, service } = world
    service.between.state = 'up'
    service.destination.received.length = 0
    await submit(site, 'of a time to come')
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
    expect(service.destination.received).toMatchObject([{ fields: { name: 'of a time to come' } }])
  })
})
