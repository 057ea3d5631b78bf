import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from './support/browser.ts'
import { PASSWORD } from './support/console-server.ts'

describeConsole('the connections of the console', (site) => {
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })

  /** An account with a source, a connection to the test destination, and events. */
  async function prepare({ events = 3 } = {}) {
    const { email } = await site.addUser()
    const login = await site.api<{ accessToken: string }>('POST', '/ferryhook/v1/auth/login', {
      json: { email, password: PASSWORD },
    })
    const token = login.body.accessToken
    const call = async <T = { id: string }>(method: string, path: string, json?: unknown) =>
      (await site.api<T>(method, `/ferryhook/v1${path}`, { token, ...(json ? { json } : {}) })).body
    const source = await call('POST', '/sources', { name: 'Shop', provider: 'custom' })
    for (let n = 1; n <= events; n++) {
      await site.api('POST', `/in/${source.id}`, {
        json: { type: n % 2 ? 'order.paid' : 'order.opened', id: n, amount: n * 100, note: 'x' },
      })
    }
    const connection = await call<{ id: string; rev: number }>(
      'POST',
      `/sources/${source.id}/connections`,
      { name: 'Warehouse', destinationUrl: 'test:200' },
    )
    const page = await site.signedIn({ email })
    return { page, call, source, connection, email }
  }

  const openSetup = async (page: Page, id: string) => {
    await site.open(page, `/connections/${id}/setup`)
    await page.getByText('Would send', { exact: true }).waitFor()
  }

  test('a dry run on the last events is summed up', async () => {
    const { page, connection } = await prepare({ events: 4 })
    await openSetup(page, connection.id)
    await button(page, 'Add condition').click()
    await page.getByLabel('Value').fill('order.paid')
    await button(page, 'Run on all').click()
    const summary = page.getByRole('img', { name: '2 would be sent, 2 filtered, 0 errors' })
    await summary.waitFor()
    expect(await summary.locator('rect').count()).toBe(4)
  })

  test('two people who edit the same connection: the second is told, sees both versions and loses nothing', async () => {
    const { page, call, connection } = await prepare()
    await openSetup(page, connection.id)
    await page.getByLabel('Name').fill('Mine')
    await call('PATCH', `/connections/${connection.id}`, { name: 'Theirs', retryConfig: [0, 60] })
    await button(page, /^Save/).click()
    const dialog = page.getByRole('dialog', { name: 'Somebody else changed this connection' })
    await dialog.locator('.removed').filter({ hasText: 'Theirs' }).waitFor()
    await dialog.locator('.added').filter({ hasText: 'Mine' }).waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'connection-conflict')
    await dialog.getByRole('button', { name: 'Keep editing' }).click()
    expect(await page.getByLabel('Name').inputValue()).toBe('Mine')
    await button(page, /^Save/).click()
    await dialog.getByRole('button', { name: 'Save mine' }).click()
    await page.getByText('Connection saved').waitFor()
    expect(await call('GET', `/connections/${connection.id}`)).toMatchObject({
      name: 'Mine',
      retryConfig: [0, 60],
    })
  })

  test('unsaved changes survive a reload, an interruption of the server and the end of the session', async () => {
    const { page, call, connection } = await prepare()
    await openSetup(page, connection.id)
    await page.getByLabel('Name').fill('Typed')
    page.on('dialog', (dialog) => void dialog.accept())
    await page.reload()
    await page.getByText('What you typed before was restored').waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('Typed')
    await page.getByRole('navigation', { name: 'Pages' }).getByText('Sources').click()
    await button(page, 'Keep editing').click()
    const restart = await site.interrupt()
    await button(page, /^Save/).click()
    await page.getByText('Offline.').waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('Typed')
    await restart()
    await button(page, 'Try now').click()
    await page.getByText('Offline.').waitFor({ state: 'detached' })
    site.clock.advance({ days: 40 })
    await button(page, /^Save/).click()
    const dialog = page.getByRole('dialog', { name: 'Sign in again to continue' })
    await dialog.getByLabel(/Password/).fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Connection saved').waitFor()
    expect(call).toBeTypeOf('function')
  })

  test('a connection is paused with undo, tested, and deleted by its name', async () => {
    const { page, connection } = await prepare()
    await openSetup(page, connection.id)
    await button(page, 'Test delivery').click()
    await page.getByText('Response 200 in').waitFor()
    await button(page, 'Pause').click()
    await button(page, 'Undo').click()
    await button(page, 'Pause').waitFor()
    await button(page, 'Delete…').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').fill('Warehouse')
    await dialog.getByRole('button', { name: 'Delete connection' }).click()
    await page.waitForURL('**/console/connections')
    await site.open(page, `/connections/${connection.id}/setup`)
    await page.getByText('Connection not found').waitFor()
    expect(await page.getByRole('form').count()).toBe(0)
  })

  test('the secret is rotated with an overlap and shown once; deliveries and history are listed', async () => {
    const { page, call, source, connection } = await prepare()
    await site.open(page, `/connections/${connection.id}/secret`)
    expect(await pageProblems(page)).toEqual([])
    await button(page, 'Rotate secret…').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    const shown = page.getByRole('dialog', { name: 'The new signing secret' })
    expect(await shown.getByText(/^whsec_/).textContent()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    await shown.getByRole('button', { name: 'I have stored it' }).click()
    await call('POST', `/sources/${source.id}/test-event`)
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByText('Secret rotated').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'connection-history')
    await page.getByRole('link', { name: /Deliveries/ }).click()
    await page.getByRole('link', { name: 'ferryhook.test' }).waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'connection-deliveries')
  })

  test('a connection is created with the keyboard alone, and its secret is shown once', async () => {
    const { page } = await prepare()
    await site.open(page, '/connections')
    await page.getByRole('link', { name: 'Warehouse' }).waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'connections')
    await page.keyboard.press('n')
    await page.getByLabel('URL').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'connection-new')
    await page.getByLabel('URL').focus()
    await page.keyboard.type('http://10.0.0.1/private')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await page.keyboard.press('Control+A')
    await page.keyboard.type('https://shop.example.com/hooks')
    await page.keyboard.press('Enter')
    const shown = page.getByRole('dialog', { name: 'The signing secret of this connection' })
    await shown.getByText(/^whsec_/).waitFor()
    await page.keyboard.press('Control+Enter')
    await page.getByRole('heading', { level: 1, name: 'shop.example.com' }).waitFor()
    await expect.poll(() => page.url()).toMatch(/\/connections\/conn_[\w-]+\/setup/)
  })

  test('failing connections come first, and the filter is in the address', async () => {
    const { page, call, source, connection } = await prepare()
    await call('POST', `/sources/${source.id}/connections`, {
      name: 'Broken',
      destinationUrl: 'test:500',
    })
    await call('POST', `/sources/${source.id}/test-event`)
    await call('POST', `/connections/${connection.id}/pause`)
    await expect
      .poll(
        async () => (await call<{ items: unknown[] }>('GET', '/connections?status=failing')).items,
        {
          timeout: 30_000,
        },
      )
      .toHaveLength(1)
    await site.open(page, '/connections')
    await page.getByRole('link', { name: 'Broken' }).waitFor()
    const names = page.locator('tbody tr td:first-child')
    expect(await names.allTextContents()).toEqual(['Broken', 'Warehouse'])
    await page.getByRole('group', { name: 'Status' }).getByText('Paused').click()
    await expect.poll(() => page.url()).toContain('status=paused')
    expect(await names.allTextContents()).toEqual(['Warehouse'])
    await page.reload()
    await page.getByRole('link', { name: 'Warehouse' }).waitFor()
    expect(await names.allTextContents()).toEqual(['Warehouse'])
  })
})
