import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'
import {
  createFleet,
  type Fleet,
  HOSTILE_AGENCY,
  HOSTILE_DOMAIN,
  LONG_DOMAIN,
  releaseKey,
} from '../support/fleet.ts'

const env = { FORM_BRIDGE_RELEASE_KEYS: releaseKey.publicKey }

describeConsole(
  'the page of sites',
  (site) => {
    let fleet: Promise<Fleet> | undefined
    let admins = 0
    const newAdmin = () => site.addOperator(`sites-admin-${++admins}`)
    const withFleet = () =>
      (fleet ??= newAdmin().then((token) => createFleet(site, { count: 120, token })))
    const idOf = async (domain: string) => (await withFleet()).ids.get(domain) ?? ''

    // First, because the other tests add sites.
    test('shows how to build the plugin while there is no site', async () => {
      const page = await site.asOperator()
      await site.open(page, '/server/sites')
      await page.getByText('No sites yet').waitFor()
      await page.getByText('strongroom plugin build --service … --public-key …').waitFor()
      expect(await pageProblems(page)).toEqual([])
    })

    test('lists sites with status, version, agency and last seen, and counts them by status', async () => {
      await withFleet()
      const page = await site.asOperator()
      await site.open(page, '/server/sites')
      const row = page.getByRole('row').filter({ hasText: 'hotel-seeblick.example' })
      await expect.poll(() => row.textContent()).toContain('Unconfirmed')
      expect(await row.textContent()).toContain('2.4.1')
      const behind = page.getByRole('row').filter({ hasText: 'vet-clinic-east.example' })
      expect(await behind.textContent()).toContain('1 behind')
      const withdrawn = page.getByRole('row').filter({ hasText: 'cycling-club.example' })
      expect(await withdrawn.textContent()).toContain('Withdrawn')
      const tabs = page.getByRole('navigation', { name: 'Status' })
      await expect.poll(() => tabs.textContent()).toContain('Unconfirmed1')
      expect(await tabs.textContent()).toContain('Not seen1')
      expect(await tabs.textContent()).toContain('Disabled1')
      await page.getByRole('img', { name: /^Sites by version today: 2\.4\.1: 78/ }).waitFor()
      const chart = page.getByRole('img', { name: /^Sites by version today/ }).first()
      await chart.focus()
      await page.keyboard.press('ArrowLeft')
      await page.getByRole('status').filter({ hasText: 'on 2.4.0-rc2' }).waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'sites-list')
    })

    test('shows hostile names of sites and agencies as text', async () => {
      await withFleet()
      const page = await site.asOperator()
      for (const domain of [HOSTILE_DOMAIN, LONG_DOMAIN]) {
        await site.open(page, `/server/sites?site=${await idOf(domain)}`)
        await page.getByRole('heading', { level: 2, name: domain }).waitFor()
      }
      await site.open(page, `/server/sites?site=${await idOf('bakery-lindner.example')}`)
      await page.getByRole('complementary', { name: 'Site' }).getByText(HOSTILE_AGENCY).waitFor()
      expect(await page.locator('img[src="x"], script:not([src])').count()).toBe(0)
      await site.open(page, `/server/sites?site=${await idOf(LONG_DOMAIN)}`)
      await page.getByRole('heading', { level: 2, name: LONG_DOMAIN }).waitFor()
      expect(await pageProblems(page)).toEqual([])
    })

    test('has its filters in the address: tabs, version, agency, text, and back', async () => {
      const { agency_id } = await withFleet()
      const page = await site.asOperator()
      await site.open(page, '/server/sites')
      const rows = page.locator('.table-sites tbody tr')
      await page.getByRole('link', { name: /^Not seen/ }).click()
      await page.waitForURL('**/sites?status=active&seen=14d')
      await expect.poll(() => rows.allTextContents()).toHaveLength(1)
      expect(await rows.first().textContent()).toContain('garden-centre.example')
      await page.goBack()
      await expect.poll(() => rows.count()).toBe(50)
      await page.keyboard.press('/')
      await page.keyboard.type('version:2.2.4')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/sites?version=2.2.4')
      await expect.poll(() => rows.count()).toBe(1)
      await page.getByRole('button', { name: 'Remove the filter version' }).click()
      await expect.poll(() => rows.count()).toBe(50)
      await page.keyboard.press('/')
      await page.keyboard.type('northwind')
      await page.waitForURL('**/sites?q=northwind')
      await expect.poll(() => rows.count()).toBe(1)
      await site.open(page, `/server/sites?agency=${agency_id}&status=disabled`)
      await page.getByText('No site matches the filter').waitFor()
      await site.open(page, '/server/sites?status=nonsense&version=%3Cb%3E&seen=x')
      await expect.poll(() => rows.count()).toBe(50)
    })

    test('loads further pages as one scrolls, each site once', async () => {
      await withFleet()
      const page = await site.asOperator()
      await site.open(page, '/server/sites?status=active')
      const rows = page.locator('.table-sites tbody tr')
      await expect.poll(() => rows.count()).toBe(50)
      await expect
        .poll(async () => {
          await page
            .locator('.sites-scroll')
            .evaluate((pane) => pane.scrollTo(0, pane.scrollHeight))
          return rows.count()
        })
        .toBe(118)
      const domains = await page.locator('.table-sites tbody a.link').allTextContents()
      expect(new Set(domains).size).toBe(domains.length)
    })

    test('opens, moves through and selects sites with the keyboard alone', async () => {
      await withFleet()
      const page = await site.asOperator()
      await site.open(page, '/server/sites')
      await page.locator('.table-sites tbody tr').first().waitFor()
      await page.keyboard.press('j')
      await page.waitForURL('**/sites?site=site_*')
      const first = page.url()
      await page.keyboard.press('j')
      await expect.poll(() => page.url()).not.toBe(first)
      await page.keyboard.press('k')
      await expect.poll(() => page.url()).toBe(first)
      await page.keyboard.press('x')
      await page.getByText('1 site selected').waitFor()
      await page.keyboard.press('Escape')
      await page.waitForURL('**/console/server/sites')
      await page.keyboard.press('Escape')
      await expect.poll(() => page.getByText('1 site selected').count()).toBe(0)
    })

    test('shows one site with keys, rate use and history, beside the list and alone on a phone', async () => {
      const { stores } = await withFleet()
      const id = await idOf('hotel-seeblick.example')
      await stores.securityEvents.record({
        site_id: id,
        domain: 'hotel-seeblick.example',
        event_type: 'auth_failure',
        client_ip: 'ip_0123456789abcdefghijkl',
        user_agent: '<script>alert(1)</script>',
        details: { reason: 'timestamp_out_of_range', repeated: 2 },
      })
      const page = await site.asOperator()
      await site.open(page, `/server/sites?site=${id}`)
      const drawer = page.getByRole('complementary', { name: 'Site' })
      await drawer.getByText('Reconnected without its old key').waitFor()
      await drawer.getByText('timestamp out of range, 2 more').waitFor()
      await drawer.getByText('First update check').waitFor()
      await drawer
        .getByText(/^0 of \d/)
        .first()
        .waitFor()
      await drawer.getByText('Version 1').waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'sites-detail')
    })

    test('suspends with a reason, which the history shows, and resumes with undo', async () => {
      await withFleet()
      const domain = 'site-0050.example'
      const page = await site.asOperator()
      await site.open(page, `/server/sites?site=${await idOf(domain)}`)
      await page.getByRole('button', { name: 'Suspend…' }).click()
      const dialog = page.getByRole('dialog', { name: `Suspend ${domain}?` })
      await dialog.getByText('Submissions wait on the site').waitFor()
      await dialog.getByLabel('Reason').fill("Sends 'spam'")
      await dialog.getByText(`--reason 'Sends '\\''spam'\\'''`).waitFor()
      expect(await pageProblems(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Suspend', exact: true }).click()
      await page.getByText(`${domain} is suspended`).waitFor()
      const drawer = page.getByRole('complementary', { name: 'Site' })
      await drawer.getByText("Sends 'spam'").waitFor()
      await page.getByRole('button', { name: 'Undo' }).click()
      await drawer.getByRole('button', { name: 'Suspend…' }).waitFor()
      await drawer.getByText('Resumed').waitFor()
    })

    test('disables only after the domain was typed, and the site is gone for good', async () => {
      await withFleet()
      const domain = 'site-0051.example'
      const page = await site.asOperator()
      await site.open(page, `/server/sites?site=${await idOf(domain)}`)
      await page.getByRole('button', { name: 'Disable…' }).click()
      const dialog = page.getByRole('dialog', { name: `Disable ${domain} permanently?` })
      await dialog.getByText('This cannot be undone').waitFor()
      const confirm = dialog.getByRole('button', { name: 'Disable site' })
      expect(await confirm.isDisabled()).toBe(true)
      await dialog.getByLabel('Type the domain to continue').fill('site-0052.example')
      expect(await confirm.isDisabled()).toBe(true)
      await dialog.getByLabel('Type the domain to continue').fill(domain)
      await takeShots(page, 'sites-disable')
      await confirm.click()
      await page.getByText(`${domain} is disabled`).waitFor()
      await expect.poll(() => page.getByRole('button', { name: 'Disable…' }).count()).toBe(0)
    })

    test('confirms a site that was reconnected without its old key', async () => {
      await withFleet()
      const page = await site.asOperator()
      const id = await idOf('hotel-seeblick.example')
      await site.open(page, `/server/sites?site=${id}`)
      await page.getByRole('button', { name: 'Confirm site…' }).click()
      const dialog = page.getByRole('dialog', { name: /^Confirm hotel/ })
      await dialog.getByText(`strongroom sites confirm ${id}`).waitFor()
      await dialog.getByRole('button', { name: 'Confirm site' }).click()
      await page.getByText('hotel-seeblick.example is confirmed').waitFor()
      await expect.poll(() => page.getByText('Reconnected without its old key').count()).toBe(0)
    })

    test('suspends several sites at once and says which could not be', async () => {
      await withFleet()
      const page = await site.asOperator()
      await site.open(page, '/server/sites?q=site-006')
      for (const number of ['0060', '0061', '0062'])
        await page.getByRole('checkbox', { name: `Select site-${number}.example` }).check()
      // Another operator is faster.
      const token = await newAdmin()
      const taken = await idOf('site-0061.example')
      await site.api('POST', `/form-bridge/v1/sites/${taken}/suspend`, { token, json: {} })
      const picked = page.getByRole('region', { name: 'Selected sites' })
      await picked.getByRole('button', { name: 'Suspend…' }).click()
      await page.getByRole('button', { name: 'Suspend', exact: true }).click()
      await page.getByText(/2 sites suspended, 1 failed\. site-0061\.example:/).waitFor()
      await expect
        .poll(() => page.locator('.table-sites tbody').textContent())
        .toMatch(/Suspended.*Suspended.*Suspended/s)
    })

    test('sets and removes the limits of a site', async () => {
      await withFleet()
      const page = await site.asOperator()
      await site.open(page, `/server/sites?site=${await idOf('site-0070.example')}`)
      await page.getByRole('button', { name: 'Set limit…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Per minute').fill('x')
      await dialog.getByText('Enter a whole number').waitFor()
      await dialog.getByLabel('Per minute').fill('7')
      await dialog.getByRole('button', { name: 'Set limits' }).click()
      const drawer = page.getByRole('complementary', { name: 'Site' })
      await drawer.getByText('0 of 7').waitFor()
      await page.getByRole('button', { name: 'Set limit…' }).click()
      await page.getByRole('button', { name: 'Remove override' }).click()
      await expect.poll(() => drawer.getByText('0 of 7').count()).toBe(0)
    })

    test('shows a viewer everything, and why nothing can be changed', async () => {
      await withFleet()
      const token = await site.addOperator('sites-viewer', { role: 'viewer' })
      const page = await site.asOperator({ token })
      await site.open(page, `/server/sites?site=${await idOf('bakery-lindner.example')}`)
      const button = page.getByRole('button', { name: 'Suspend…' })
      await button.waitFor()
      expect(await button.getAttribute('aria-disabled')).toBe('true')
      expect(await button.getAttribute('title')).toContain('requires the role editor')
      await button.click({ force: true })
      expect(await page.getByRole('dialog').count()).toBe(0)
    })

    test('tells an operator of other services that the page is not for them', async () => {
      const token = await site.addOperator('keys-only', { services: ['key-store'] })
      const page = await site.asOperator({ token })
      await site.open(page, '/server/sites')
      await page.getByText('You have no access to sites').waitFor()
      const links = page.getByRole('navigation', { name: 'Pages' })
      expect(await links.getByRole('link', { name: 'Sites' }).count()).toBe(0)
    })

    test('says that a site does not exist, and keeps the list', async () => {
      await withFleet()
      const page = await site.asOperator()
      await site.open(page, '/server/sites?site=site_0123456789abcdef')
      await page.getByText('Site not found').waitFor()
      await expect.poll(() => page.locator('.table-sites tbody tr').count()).toBe(50)
    })

    test('keeps list and typed reason while the server is away, and then continues', async () => {
      await withFleet()
      const domain = 'site-0080.example'
      const page = await site.asOperator()
      await site.open(page, `/server/sites?site=${await idOf(domain)}`)
      await page.getByRole('button', { name: 'Suspend…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Reason').fill('Typed before the restart')
      const restart = await site.interrupt()
      await dialog.getByRole('button', { name: 'Suspend', exact: true }).click()
      await dialog.getByText('The server could not be reached').waitFor()
      expect(await dialog.getByLabel('Reason').inputValue()).toBe('Typed before the restart')
      expect(await page.locator('.table-sites tbody tr').count()).toBe(50)
      await restart()
      await dialog.getByRole('button', { name: 'Suspend', exact: true }).click()
      await page.getByText(`${domain} is suspended`).waitFor()
    })

    test('shows adoption as a table, and on a phone leaves the window to the list', async () => {
      await withFleet()
      const page = await site.asOperator()
      await site.open(page, '/server/sites')
      await page.getByRole('button', { name: 'Show as table' }).click()
      await page.getByRole('columnheader', { name: '2.4.0-rc2 (withdrawn)' }).waitFor()
      await page.setViewportSize({ width: 360, height: 800 })
      const first = page.locator('.table-sites tbody tr').first()
      const box = await first.boundingBox()
      expect(box?.y).toBeLessThan(300)
    })
  },
  env,
)
