import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'
import { type SeededAccount, seedAccount } from '../support/seed-events.ts'

describeConsole(
  'usage',
  (site) => {
    let seeded: Promise<SeededAccount> | undefined
    const account = () => (seeded ??= seedAccount(site))

    test('usage shows each day and what is left', async () => {
      const { email, token } = await account()
      // Figures are cached for five seconds.
      site.clock.advance({ seconds: 6 })
      const page = await site.signedIn({ email })
      await site.open(page, '/usage')
      const { body } = await site.api<{
        events: { used: number; limit: number }
        days: { events: number }[]
      }>('GET', '/ferryhook/v1/usage', { token })
      expect(body.events.used).toBeGreaterThan(0)
      const text = `${body.events.used} of ${body.events.limit.toLocaleString('en')}`
      await page.getByText(text).waitFor()
      const sum = body.days.reduce((total, day) => total + day.events, 0)
      expect(await page.locator('.legend').textContent()).toBe(`Events ${sum}`)
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'usage')
    })

    test('pages show their shape while they load, and charts load their code when they are shown', async () => {
      const { email } = await account()
      const page = await site.signedIn({ email })
      const scripts: string[] = []
      page.on('request', (request) => scripts.push(new URL(request.url()).pathname))
      let release = () => {}
      const held = new Promise<void>((resolve) => (release = resolve))
      await page.route('**/ferryhook/v1/api-keys', async (route) => {
        await held
        await route.continue()
      })
      await site.open(page, '/api-keys')
      await page.locator('[aria-busy=true] .bone').first().waitFor()
      release()
      await page.getByRole('heading', { name: 'No API keys' }).waitFor()
      const hasPlot = () => scripts.some((path) => /chart-plot/.test(path))
      expect(hasPlot()).toBe(false)
      await page.getByRole('link', { name: 'Usage' }).click()
      await page.locator('canvas').waitFor()
      expect(hasPlot()).toBe(true)
    })

    test('fewer than five points are a table and no chart', async () => {
      const { email } = await account()
      const page = await site.signedIn({ email })
      await page.route('**/ferryhook/v1/usage', async (route) => {
        const response = await route.fetch()
        const days = [1, 2, 3, 4].map((day) => ({ date: `2026-11-0${day}`, events: day }))
        await route.fulfill({ response, json: { ...(await response.json()), days } })
      })
      await site.open(page, '/usage')
      const table = page.getByRole('region', { name: /as a table$/ })
      await expect.poll(() => table.locator('tbody tr').count()).toBe(4)
      expect(await page.locator('canvas').count()).toBe(0)
      expect(await page.getByRole('button', { name: 'Show as chart' }).count()).toBe(0)
    })

    test('pages say why they cannot load', async () => {
      const { email } = await account()
      const page = await site.signedIn({ email })
      await site.open(page, '/usage')
      await page.route('**/ferryhook/v1/**', (route) =>
        route.fulfill({
          status: 503,
          json: { error: { code: 'server.unavailable', message: 'The store is unavailable.' } },
          headers: { 'x-request-id': 'req-1' },
        }),
      )
      for (const [path, what] of [
        ['overview', 'the overview'],
        ['replays', 'replays'],
        ['alerts', 'the alert settings'],
        ['api-keys', 'API keys'],
        ['usage', 'the usage'],
        ['audit', 'the audit log'],
      ] as const) {
        await page.evaluate((to) => history.pushState(null, '', to), `/console/${path}`)
        await page.evaluate(() => dispatchEvent(new PopStateEvent('popstate')))
        await page.getByRole('heading', { name: `Could not load ${what}` }).waitFor()
        await page.getByText('The store is unavailable.').first().waitFor()
      }
      expect(await pageProblems(page)).toEqual([])
    })
  },
  { FERRYHOOK_DELIVER: 'false' },
)
