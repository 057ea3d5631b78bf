import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from './support/browser.ts'
import { PASSWORD } from './support/console-server.ts'

describeConsole('the editor of a connection', (site) => {
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

  test('the dry run follows what is typed in the filter and the transform, and nothing is saved until Ctrl S', async () => {
    const { page, call, connection } = await prepare()
    await openSetup(page, connection.id)
    await button(page, 'Add condition').click()
    await page.getByLabel('Value').fill('order.opened')
    await page.getByText('Would send nothing').waitFor()
    await page.keyboard.press('Alt+]')
    await page.getByText('Would send', { exact: true }).waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.get('sample')).toMatch(/^evt_/)
    await page.getByRole('group', { name: 'Transform' }).getByText('JavaScript').click()
    const editor = page.getByLabel('Transform in JavaScript')
    await editor.click()
    await page.keyboard.press('Control+A')
    await page.keyboard.type(
      'function transform({ body }) { console.log("seen"); delete body.note; return body }',
    )
    await page.locator('.diff .removed').filter({ hasText: '"note"' }).waitFor()
    await page.getByRole('tab', { name: /Console/ }).click()
    await page.getByText('seen', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Difference' }).click()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'connection')
    expect(await call('GET', `/connections/${connection.id}`)).toMatchObject({ filters: [] })
    await editor.click()
    await page.keyboard.press('Control+s')
    await page.getByText('Connection saved').waitFor()
    expect(await call('GET', `/connections/${connection.id}`)).toMatchObject({
      filters: [{ path: '$.type', operator: 'equals', value: 'order.opened' }],
      transform: { type: 'javascript' },
    })
  })

  test('a script that fails, and a filter that is not JSON, are explained and lose nothing', async () => {
    const { page, connection } = await prepare()
    await openSetup(page, connection.id)
    await page.getByRole('group', { name: 'Transform' }).getByText('JavaScript').click()
    const editor = page.getByLabel('Transform in JavaScript')
    await editor.click()
    await page.keyboard.press('Control+A')
    await page.keyboard.type('function transform() { throw new Error("out of stock") }')
    await page.getByText('out of stock').first().waitFor()
    await page.getByRole('group', { name: 'Filter as' }).getByText('JSON').click()
    const json = page.getByLabel('Filter as JSON')
    await json.click()
    await page.keyboard.press('Control+A')
    await page.keyboard.type('[nonsense')
    await page.getByText('The JSON of the filter is not valid').first().waitFor()
    await button(page, /^Save/).click()
    await page.getByRole('alert').getByText('The JSON of the filter is not valid').waitFor()
    expect(await json.textContent()).toContain('nonsense')
  })
})
