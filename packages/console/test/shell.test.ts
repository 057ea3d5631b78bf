import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { consoleFiles } from '../src/files.ts'
import { describeConsole, pageProblems, takeShots } from './support/browser.ts'
import { PASSWORD } from './support/console-server.ts'

/** First load without editor and charts. */
const MAX_FIRST_LOAD_BYTES = 120_000

describeConsole('the shell of the console', (site) => {
  test('somebody who is not signed in is asked to sign in, and comes back to the page', async () => {
    const page = await site.visitor()
    await page.goto(`${site.origin}/console/events?status=failed`)
    await page.waitForURL('**/console/sign-in?**')
    await expect
      .poll(() => new URL(page.url()).searchParams.get('next'))
      .toBe('/events?status=failed')
  })

  test('a signed-in user sees the navigation, and every page of it opens', async () => {
    const page = await site.signedIn()
    await site.open(page, '/overview')
    const names = await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link')
      .allTextContents()
    expect(names).toEqual([
      'Overview',
      'Events',
      'Sources',
      'Connections',
      'Replays',
      'Alerts',
      'API keys',
      'Usage',
      'Audit log',
    ])
    for (const name of names) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
    }
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'shell')
  })

  test('the palette finds pages and pasted ids with the keyboard alone', async () => {
    const page = await site.signedIn()
    await site.open(page, '/overview')
    const field = page.getByRole('combobox', { name: 'Search or go to' })
    await page.keyboard.press('Control+k')
    await field.waitFor()
    await page.keyboard.type('api')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/api-keys')
    await page.keyboard.press('Control+k')
    await field.waitFor()
    await page.keyboard.type('src_V1StGXR8_Z5jdHi6')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/sources/src_*')
    await expect.poll(() => page.url()).toBe(`${site.origin}/console/sources/src_V1StGXR8_Z5jdHi6`)
  })

  test('signing out leaves no drafts in the browser', async () => {
    const page = await site.signedIn()
    await site.open(page, '/overview')
    await page.evaluate(() => sessionStorage.setItem('connection-draft:conn_1', '{}'))
    await page.getByRole('button', { expanded: false }).filter({ hasText: '@' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to the console.' }).waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
  })

  test('g and a letter go to a page', async () => {
    const page = await site.signedIn()
    await site.open(page, '/overview')
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.waitForURL('**/console/sources')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Sources')
  })
})

describeConsole(
  'the console of a server with only Ferryhook',
  (site) => {
    test('signs a user in, although the API has no prefix', async () => {
      const { email } = await site.addUser()
      const page = await site.visitor()
      await site.open(page, '/sign-in')
      await page.getByLabel('E-mail').fill(email)
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      await page.getByRole('link', { name: 'Sources', exact: true }).click()
      await page.getByText('No sources yet').waitFor()
      await expect.poll(() => page.url()).toBe(`${site.origin}/console/sources`)
    })
  },
  {},
  { only: 'ferryhook' },
)

test('the first load is at most 120 KB, compressed', () => {
  const files = consoleFiles()
  const main = [...files.keys()].find((name) => /^main-.*\.js$/.test(name)) ?? ''
  const needed = new Set<string>()
  const add = (name: string) => {
    const file = files.get(name)
    if (!file || needed.has(name)) return
    needed.add(name)
    // Static imports only: lazy ones are calls.
    for (const [, imported = ''] of file.body.matchAll(/(?:from|import)"\.\/([^"]+)"/g))
      add(imported)
  }
  add(main)
  for (const name of files.keys()) if (name.endsWith('.css')) needed.add(name)
  // The largest page that a user may open first, on top.
  const sizes = [...needed].map((name) => gzipSync(files.get(name)?.body ?? '').length)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_FIRST_LOAD_BYTES)
})
