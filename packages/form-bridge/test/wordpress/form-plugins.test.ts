/**
 * Submissions of form plugins. The form plugins cannot be installed here, so stand-ins fire their public
 * hooks: with the arguments, in the order and at the times of the real ones.
 */
import { expect, test } from 'vitest'
import { connect, inWordPress, pageText, waiting } from './in-wordpress.ts'

interface Case {
  /** The stand-in in `form-plugins`. */
  plugin: string
  /** The PHP function that submits its form. */
  submit: string
  form_id: string
  form_name: string
  page: string
  fields: Record<string, unknown>
  /** Submissions that must not be sent. */
  rejected: string[]
  /** The folder of its uploads; undefined if they are not on this server. */
  file: Record<string, unknown>
}

const sent = { name: 'notes.txt', size: 9, content: Buffer.from('Hello Ada').toString('base64') }

const cases: Case[] = [
  {
    plugin: 'contact-form-7',
    submit: 'test_contact_form_7',
    form_id: 'contact-form-7:12',
    form_name: 'Contact',
    page: '/contact/',
    fields: { 'your-name': 'Ada', topics: ['Engines', 'Poems'] },
    rejected: ['invalid', 'spam', 'aborted', 'step'],
    file: { field: 'cv', ...sent },
  },
  {
    plugin: 'wpforms',
    submit: 'test_wpforms',
    form_id: 'wpforms:21',
    form_name: 'Newsletter',
    page: '/news/',
    fields: { Name: 'Ada', Topics: 'Engines\nPoems' },
    rejected: ['invalid', 'spam', 'stored spam', 'step'],
    file: { field: 'CV', ...sent },
  },
  {
    plugin: 'gravityforms',
    submit: 'test_gravityforms',
    form_id: 'gravityforms:31',
    form_name: 'Application',
    page: '/jobs/',
    fields: { 'Your name': { First: 'Ada', Last: 'Lovelace' }, Topics: ['Engines'], CV: [] },
    rejected: ['invalid', 'spam', 'step', 'saved for later'],
    file: { field: 'CV', ...sent },
  },
  {
    plugin: 'ninja-forms',
    submit: 'test_ninja_forms',
    form_id: 'ninja-forms:41',
    form_name: 'Support',
    page: '/support/',
    fields: { Name: 'Ada', Topics: ['engines', 'poems'], Serial: expect.any(Number) },
    rejected: ['invalid', 'spam', 'step', 'preview'],
    file: { field: 'CV', ...sent },
  },
  {
    plugin: 'elementor',
    submit: 'ElementorPro\\test_elementor',
    form_id: 'elementor:a1b2c3d',
    form_name: 'Booking',
    page: '/booking/',
    fields: { Name: 'Ada', topic: ['Engines', 'Poems'] },
    rejected: ['invalid', 'spam', 'step'],
    file: { field: 'CV', ...sent, name: '6571.txt' },
  },
  {
    plugin: 'fluentform',
    submit: 'test_fluentform',
    form_id: 'fluentform:61',
    form_name: 'Feedback',
    page: '/feedback/',
    fields: { Name: { first_name: 'Ada', last_name: 'Lovelace' }, Topics: ['Engines'] },
    rejected: ['invalid', 'spam', 'step'],
    file: { field: 'CV', ...sent },
  },
  {
    plugin: 'jetpack',
    submit: 'Automattic\\Jetpack\\Forms\\ContactForm\\test_jetpack',
    form_id: 'jetpack:2',
    form_name: 'Sample Page',
    // With and without permalinks.
    page: '/',
    fields: { Name: 'Ada', Topics: ['Engines', 'Poems'] },
    rejected: ['invalid', 'spam', 'disallowed', 'step', 'preview'],
    file: { field: 'CV', name: 'notes.txt', omitted: 'unreadable' },
  },
]

inWordPress('submissions of form plugins', (fixture) => {
  /** Submits the form of a stand-in from a page, as AJAX and REST requests do. */
  const submit = ({ submit: call, page }: Case, kind: string) =>
    fixture.site.php(
      `$_SERVER['HTTP_REFERER'] = home_url( '${page}' ); \\${call}( '${kind}' ); return true;`,
    )
  const deliver = async () => {
    fixture.service.destination.received.length = 0
    await fixture.site.cron('form_bridge_send')
    return fixture.service.destination.received
  }

  test('the settings page says that it finds no form plugin, and which it supports', async () => {
    await connect(fixture.site)
    const text = await pageText(fixture.site)
    expect(text).toContain('No supported form plugin is active')
    for (const name of ['Contact Form 7', 'WPForms', 'Gravity Forms', 'Ninja Forms'])
      expect(text).toContain(name)
    for (const name of ['Elementor Forms', 'Fluent Forms', 'Jetpack Forms'])
      expect(text).toContain(name)
  })

  test.each(cases)('a valid submission of $plugin arrives once', async (each) => {
    await fixture.site.addFormPlugin(each.plugin)
    await submit(each, 'valid')
    expect(await waiting(fixture.site)).toBe(1)
    const { form_id, form_name, fields, page } = each
    expect(await deliver()).toMatchObject([
      { form_id, form_name, page_url: expect.stringContaining(page) },
    ])
    expect(fixture.service.destination.received[0]?.['fields']).toEqual(fields)
  })

  const rejected = cases.flatMap((each) => each.rejected.map((kind) => ({ ...each, kind })))
  test.each(rejected)('$plugin sends nothing for a submission that is: $kind', async (each) => {
    await submit(each, each.kind)
    expect(await waiting(fixture.site)).toBe(0)
  })

  test('Contact Form 7 sends a submission whose mail failed, and the last step of several', async () => {
    const [contactForm7] = cases as [Case]
    await submit(contactForm7, 'mail failed')
    await submit(contactForm7, 'last step')
    const { fields } = contactForm7
    expect((await deliver()).map((submission) => submission['fields'])).toEqual([fields, fields])
  })

  test('a form of Jetpack that several pages can show is sent and listed as one form', async () => {
    const jetpack = cases.find(({ plugin }) => plugin === 'jetpack') as Case
    await submit(jetpack, 'of its own')
    expect(await deliver()).toMatchObject([
      { form_id: 'jetpack:710', form_name: 'Callback', page_url: expect.stringContaining('/') },
    ])
    const text = await pageText(fixture.site)
    expect(text).toMatch(/Callback Jetpack Forms .{1,20} ago/)
    expect(text).not.toContain('Call us')
  })

  test.each(cases)(
    'an uploaded file of $plugin is sent or refused, never dropped',
    async (each) => {
      await submit(each, 'file')
      const [submission] = await deliver()
      expect(submission?.['files']).toMatchObject([each.file])
      const refused = await fixture.site.php<unknown[]>(
        'return ( new FormBridge\\Services() )->refused_files->all();',
      )
      expect(refused).toHaveLength('omitted' in each.file ? 1 : 0)
    },
  )

  test('a file that a visitor names outside the folder of the form plugin is not sent', async () => {
    const fluentForms = cases.find(({ plugin }) => plugin === 'fluentform') as Case
    await submit(fluentForms, 'forged file')
    const [submission] = await deliver()
    expect(submission?.['files']).toMatchObject([{ name: 'site.txt', omitted: 'unreadable' }])
    const text = await pageText(fixture.site)
    expect(text).toContain('Uploaded files that were not sent')
    expect(text).toMatch(
      /Feedback CV .{1,20} ago It is not stored on this site, or cannot be read\./,
    )
    await fixture.site.press('clear_files')
    expect(await pageText(fixture.site)).not.toContain('Uploaded files that were not sent')
  })

  test('the settings page lists the forms with their last submission and a switch', async () => {
    const { site } = fixture
    const text = await pageText(site)
    for (const name of ['Contact', 'Quote', 'Application', 'Support', 'Booking', 'Feedback'])
      expect(text).toContain(name)
    expect(text).toMatch(/Quote Contact Form 7 never/)
    expect(text).toMatch(/Contact Contact Form 7 .{1,20} ago/)
  })

  test('a form that is turned off sends nothing until it is turned on again', async () => {
    const { site } = fixture
    const [contactForm7] = cases as [Case]
    const all = cases.map(({ form_id }) => form_id).filter((id) => id !== contactForm7.form_id)
    await site.press('forms', { 'on[]': all })
    await submit(contactForm7, 'valid')
    expect(await waiting(site)).toBe(0)
    await submit(cases[1] as Case, 'valid')
    expect(await waiting(site)).toBe(1)
    await site.press('forms', { 'on[]': [contactForm7.form_id, ...all] })
    await submit(contactForm7, 'valid')
    expect(await waiting(site)).toBe(2)
  })
})
