import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from './support/browser.ts'

/** The pages of the server that lead to the console: without a session and without scripts of the console. */
describeConsole('the pages around the console', (site) => {
  test.each([
    ['home', '/'],
    ['guides', '/docs/guides'],
    ['guide', '/docs/guides/operations'],
    ['guide-performance', '/docs/guides/performance'],
    ['reference', '/docs/two-key'],
  ])('%s has no problems in light and dark, wide and narrow', async (name, path) => {
    const page = await site.visitor()
    await page.goto(site.origin + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, `site-${name}`)
  })

  test('the home page shows a signed-in operator what needs attention, and leads to the console', async () => {
    const page = await site.asOperator()
    await page.goto(`${site.origin}/`)
    await page.getByRole('heading', { name: 'Needs attention' }).waitFor()
    await page.getByRole('link', { name: 'Open the console' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await expect.poll(() => new URL(page.url()).pathname).toBe('/console/server')
  })
})
