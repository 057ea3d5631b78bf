/** What the owner sees and does on the settings page and the plugins page. */
import { expect, test } from 'vitest'
import { connect, inWordPress, pageText, siteIdOf, submit, waiting } from './in-wordpress.ts'

const REFUSALS = {
  no_destination: [409, 'No destination is set.', {}],
  destination_refused: [502, 'The destination refused it.', { destination_status: 413 }],
} as const

inWordPress('the owner', (fixture) => {
  /** The service refuses submissions. */
  const refuse = (code: keyof typeof REFUSALS, times = Infinity) => {
    let left = times
    fixture.service.proxy.tamper = (response) => {
      if (!response.path.endsWith('/webhook') || left-- <= 0) return
      const [status, message, data] = REFUSALS[code]
      response.status = status
      const error = { code: `form-bridge.${code}`, message, data }
      response.body = Buffer.from(JSON.stringify({ error }))
    }
  }
  const upload = (sizes: number[]) =>
    fixture.site.php(
      `$files = array();
      foreach ( array( ${sizes.join(', ')} ) as $index => $size ) {
        $path = get_temp_dir() . "form-bridge-$index.txt";
        file_put_contents( $path, str_repeat( 'x', $size ) );
        $files[] = array( 'field' => 'CV', 'name' => "../$index.txt", 'path' => $path );
      }
      do_action( 'form_bridge_submit', 'jobs', array( 'name' => 'Ada' ), array( 'form_name' => 'Jobs', 'files' => $files ) );
      return true;`,
    )
  const deliver = async () => {
    fixture.service.destination.received.length = 0
    await fixture.site.cron('form_bridge_send')
    return fixture.service.destination.received
  }

  test('sends a test submission, which arrives at the destination and not in the queue', async () => {
    const { site, service } = fixture
    await connect(site)
    await site.press('test')
    expect(await pageText(site)).toContain('The destination accepted the test submission.')
    expect(service.destination.received).toMatchObject([
      { form_id: 'form-bridge:test', fields: { test: true } },
    ])
    expect(await waiting(site)).toBe(0)
  })

  test('learns from a test submission that there is no destination, and how to set one', async () => {
    const { site } = fixture
    refuse('no_destination')
    await site.press('test')
    const text = await pageText(site)
    expect(text).toContain('The test submission was not delivered.')
    expect(text).toContain('Connected, but submissions have no destination')
    expect(text).toContain(`set a destination for the site ${await siteIdOf(site)}`)
    expect(await waiting(site)).toBe(0)
  })

  test('sees no success if no waiting submission was delivered', async () => {
    const { site, service } = fixture
    refuse('no_destination')
    await submit(site, 'Ada')
    await site.press('send')
    const text = await pageText(site)
    expect(text).toContain('1 submission was not delivered and is kept.')
    expect(text).not.toContain('0 submissions were delivered')
    service.proxy.tamper = undefined
    await site.press('send')
    expect(await pageText(site)).toContain('1 submission was delivered.')
    expect(await pageText(site)).not.toContain('no destination')
  })

  test('is told about a suspension by "Check now"', async () => {
    const { site, service } = fixture
    const id = await siteIdOf(site)
    await service.operator('POST', `/sites/${id}/suspend`)
    await site.press('check')
    const text = await pageText(site)
    expect(text).toContain('its operator has suspended it')
    expect(text).toContain('Suspended')
    expect(text).not.toContain('The service recognizes this site. ')
    await service.operator('POST', `/sites/${id}/resume`)
    await site.press('check')
    expect(await pageText(site)).toContain('The service recognizes this site.')
  })

  test('receives uploaded files up to the limit, and is told about each file beyond it', async () => {
    await upload([3_000_000, 200_000, 100_000])
    const [submission] = await deliver()
    expect(submission?.['files']).toMatchObject([
      { field: 'CV', name: '0.txt', type: 'text/plain', size: 3_000_000 },
      { name: '1.txt', size: 200_000, omitted: 'too_large' },
      { name: '2.txt', size: 100_000 },
    ])
    const [first, second] = (submission?.['files'] ?? []) as { content?: string }[]
    expect(first?.content).toBe(Buffer.alloc(3_000_000, 'x').toString('base64'))
    expect(second).not.toHaveProperty('content')
    expect(await pageText(fixture.site)).toMatch(
      /Jobs CV .{1,20} ago It has 195 KB\. The files of a submission may have 3 MB together\./,
    )
  })

  test('receives the fields and the names of files that a destination does not accept', async () => {
    const { site, service } = fixture
    await site.press('clear_files')
    refuse('destination_refused', 1)
    await upload([5])
    // The second attempt, without the contents, is scheduled immediately.
    const [, submission] = await deliver()
    service.proxy.tamper = undefined
    expect(submission).toMatchObject({
      fields: { name: 'Ada' },
      files: [{ name: '0.txt', size: 5, omitted: 'destination_limit' }],
    })
    expect(await waiting(site)).toBe(0)
    expect(await pageText(site)).toContain('The destination does not accept so much data.')
  })

  test('is warned on the plugins page while submissions are undelivered', async () => {
    const { site } = fixture
    const warning = 'If you delete Form-Bridge, it sends what it can and deletes the rest.'
    expect((await site.page('/wp-admin/plugins.php')).text).not.toContain(warning)
    await submit(site, 'last')
    const { text } = await site.page('/wp-admin/plugins.php')
    expect(text).toContain(warning)
    expect(text).toContain('1 submission has not been delivered.')
    expect(text).toContain('assets/plugins.js')
  })

  test('deletes the plugin only after it has sent what it can', async () => {
    const { site, service } = fixture
    service.destination.received.length = 0
    service.proxy.state = 'refusing'
    await site.php(`deactivate_plugins( 'form-bridge/form-bridge.php' ); return true;`)
    service.proxy.state = 'up'
    await site.php(`return delete_plugins( array( 'form-bridge/form-bridge.php' ) );`)
    expect(service.destination.received).toMatchObject([{ fields: { name: 'last' } }])
    const left = `return $GLOBALS['wpdb']->get_col( "SELECT option_name FROM {$GLOBALS['wpdb']->options} WHERE option_name LIKE '%form_bridge%'" );`
    expect(await site.php(left)).toEqual([])
  })
})
