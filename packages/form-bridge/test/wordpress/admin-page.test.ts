/** The settings page of the plugin in a real browser, at desktop and phone width. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { findChromium, launch } from '@strongroom/kit/testing/chromium'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inWordPress, PAGE, statusOf } from './in-wordpress.ts'

const found = await findChromium()
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const WIDTHS = [1280, 360]

if (found) {
  inWordPress('the settings page', (fixture) => {
    let browser: Awaited<ReturnType<typeof launch>>
    let page: Awaited<ReturnType<typeof browser.newPage>>

    beforeAll(async () => {
      browser = await launch(found)
      page = await browser.newPage()
      await page.route(
        (url) => url.hostname !== '127.0.0.1',
        (route) => route.abort(),
      )
      await page.goto(`${fixture.site.url}/wp-login.php`)
      await page.fill('#user_login', 'owner')
      await page.fill('#user_pass', 'password')
      await page.press('#user_pass', 'Enter')
      await page.waitForURL(/wp-admin/)
    })

    afterAll(() => browser?.close())

    /** Accessibility violations and horizontal overflow, with all details opened. */
    async function findProblems(): Promise<unknown[]> {
      const all: unknown[] = []
      await page.goto(fixture.site.url + PAGE, { waitUntil: 'domcontentloaded' })
      await page.evaluate(
        `document.querySelectorAll('details').forEach((each) => (each.open = true))`,
      )
      await page.evaluate(axe)
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 })
        const { violations } = await page.evaluate<{ violations: { id: string }[] }>(
          `axe.run('.wrap.form-bridge')`,
        )
        all.push(...violations)
        const needed = await page.evaluate<number>('document.documentElement.scrollWidth')
        if (needed > width) all.push(`needs ${needed} pixels of ${width}`)
      }
      return all
    }

    test('is accessible and does not overflow before the site is connected', async () => {
      expect(await findProblems()).toEqual([])
    })

    test('connects the site with the keyboard alone and updates itself', async () => {
      await page.goto(fixture.site.url + PAGE, { waitUntil: 'domcontentloaded' })
      // The skip link moves the focus past the menu.
      await page.getByText('Skip to main content').focus()
      await page.keyboard.press('Enter')
      const focused = () => page.evaluate<string>('document.activeElement.textContent.trim()')
      for (let tabs = 0; tabs < 20 && (await focused()) !== 'Connect'; tabs++)
        await page.keyboard.press('Tab')
      expect(await focused()).toBe('Connect')
      await page.keyboard.press('Enter')
      await page.getByText('Connecting…').waitFor()
      await page.locator('.form-bridge-status--good').waitFor({ timeout: 60_000 })
      expect(await statusOf(fixture.site)).toBe('connected')
    })

    test('is accessible and does not overflow when the site is connected', async () => {
      expect(await findProblems()).toEqual([])
    })

    test('lists forms accessibly, and a form is turned off with the keyboard alone', async () => {
      const { site } = fixture
      for (const plugin of ['contact-form-7', 'gravityforms', 'fluentform'])
        await site.addFormPlugin(plugin)
      await site.php(`test_contact_form_7( 'valid' ); test_fluentform( 'forged file' );`)
      expect(await findProblems()).toEqual([])
      await page.goto(site.url + PAGE, { waitUntil: 'domcontentloaded' })
      await page.getByRole('checkbox', { name: 'Quote' }).focus()
      await page.keyboard.press('Space')
      const focused = () => page.evaluate<string>('document.activeElement.textContent.trim()')
      for (let tabs = 0; tabs < 20 && (await focused()) !== 'Save forms'; tabs++)
        await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.getByText('Forms saved.').waitFor()
      expect(await page.getByRole('checkbox', { name: 'Quote' }).isChecked()).toBe(false)
      expect(await page.getByRole('checkbox', { name: 'Contact' }).isChecked()).toBe(true)
    })

    test('asks before a plugin with undelivered submissions is deactivated', async () => {
      await page.goto(`${fixture.site.url}/wp-admin/plugins.php`, { waitUntil: 'load' })
      let question = ''
      page.once('dialog', (dialog) => {
        question = dialog.message()
        void dialog.dismiss()
      })
      await page.locator('#deactivate-form-bridge').click()
      expect(question).toContain('submissions have not been delivered')
      expect(question).toContain('Deactivate it anyway?')
      expect(page.url()).not.toContain('deactivate=true')
    })

    test('is accessible and does not overflow after a failed proof', async () => {
      await fixture.site.php(
        `( new FormBridge\\SiteService( new FormBridge\\Services() ) )->delete_local_data();`,
      )
      await fixture.site.block('firewall')
      await page.goto(fixture.site.url + PAGE, { waitUntil: 'domcontentloaded' })
      await page.getByRole('button', { name: 'Connect', exact: true }).click()
      await page.getByRole('button', { name: 'Try again' }).waitFor({ timeout: 60_000 })
      expect(await findProblems()).toEqual([])
      await page.getByRole('button', { name: 'Cancel' }).click()
    })

    test('is accessible and does not overflow when the site is a copy', async () => {
      await fixture.site.php(
        `( new FormBridge\\Services() )->credentials->save( new FormBridge\\Credentials( 'site_1234567890123456', 'fb_live_0a1b2c3d_key', 'fb_whs_secret', 'https://example.com' ) );`,
      )
      expect(await findProblems()).toEqual([])
    })
  })
} else {
  test.skip('the settings page: needs Chromium', () => {})
}
