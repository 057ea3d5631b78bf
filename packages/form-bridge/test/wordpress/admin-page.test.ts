/** The plugin's page in a real browser, on a wide screen and on a telephone. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { findChromium, launch } from '@strongroom/kit/testing/chromium'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inWordPress, PAGE, statusOf } from './in-wordpress.ts'

const found = await findChromium()
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const WIDTHS = [1280, 360]

if (found) {
  inWordPress('the page of the plugin', (world) => {
    let browser: Awaited<ReturnType<typeof launch>>
    let page: Awaited<ReturnType<typeof browser.newPage>>

    beforeAll(async () => {
      browser = await launch(found)
      page = await browser.newPage()
      await page.route(
        (url) => url.hostname !== '127.0.0.1',
        (route) => route.abort(),
      )
      await page.goto(`${world.site.url}/wp-login.php`)
      await page.fill('#user_login', 'owner')
      await page.fill('#user_pass', 'password')
      await page.press('#user_pass', 'Enter')
      await page.waitForURL(/wp-admin/)
    })

    afterAll(() => browser?.close())

    /** What axe has to say, and whether anything sticks out, with all that can be opened open. */
    async function faults(): Promise<unknown[]> {
      const all: unknown[] = []
      await page.goto(world.site.url + PAGE, { waitUntil: 'domcontentloaded' })
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

    test('is accessible and fits before the site is connected', async () => {
      expect(await faults()).toEqual([])
    })

    test('connects with the keyboard alone, and shows it without being asked', async () => {
      await page.goto(world.site.url + PAGE, { waitUntil: 'domcontentloaded' })
      // The link over the menu leads to the page itself.
      await page.getByText('Skip to main content').focus()
      await page.keyboard.press('Enter')
      const focused = () => page.evaluate<string>('document.activeElement.textContent.trim()')
      for (let tabs = 0; tabs < 20 && (await focused()) !== 'Connect'; tabs++)
        await page.keyboard.press('Tab')
      expect(await focused()).toBe('Connect')
      await page.keyboard.press('Enter')
      await page.getByText('Connecting…').waitFor()
      await page.locator('.form-bridge-status--good').waitFor({ timeout: 60_000 })
      expect(await statusOf(world.site)).toBe('connected')
    })

    test('is accessible and fits when it is connected', async () => {
      expect(await faults()).toEqual([])
    })

    test('is accessible and fits when the proof has failed', async () => {
      await world.site.php(`( new FormBridge\\Account( new FormBridge\\Services() ) )->forget();`)
      await world.site.close('firewall')
      await page.goto(world.site.url + PAGE, { waitUntil: 'domcontentloaded' })
      await page.getByRole('button', { name: 'Connect', exact: true }).click()
      await page.getByRole('button', { name: 'Try again' }).waitFor({ timeout: 60_000 })
      expect(await faults()).toEqual([])
      await page.getByRole('button', { name: 'Cancel' }).click()
    })

    test('is accessible and fits when the site is a copy', async () => {
      await world.site.php(
        `( new FormBridge\\Services() )->credentials->save( new FormBridge\\Credentials( 'site_1234567890123456', 'fb_live_0a1b2c3d_key', 'fb_whs_secret', 'https://example.com' ) );`,
      )
      expect(await faults()).toEqual([])
    })
  })
} else {
  test.skip('the page of the plugin: needs Chromium', () => {})
}
