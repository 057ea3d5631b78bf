import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'

describeConsole('the page of Sealed', (site) => {
  test('shows figures and the quota, and creates an API token that is shown once', async () => {
    const page = await site.asOperator()
    await site.open(page, '/server/sealed')
    await page.getByRole('heading', { name: 'Storage' }).waitFor()
    await page.getByText('of 1.1 GB').waitFor()
    await page.getByRole('button', { name: 'Create token…' }).click()
    await page.getByLabel('Name').fill('ci')
    await page.keyboard.press('Enter')
    const once = page.getByRole('dialog', { name: 'Store this API token' })
    const token = await once.locator('code').textContent()
    expect(token).toMatch(/^srs_ci\./)
    await once.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('button', { name: 'Revoke ci' }).waitFor()
    expect(await page.content()).not.toContain(token)
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'sealed')
    await page.setViewportSize({ width: 1280, height: 800 })

    const issued = await site.api<{ token: string }>('POST', '/sealed/v1/token', {
      token: token ?? '',
    })
    expect(issued.status).toBe(200)
    const reveal = { link: 'A'.repeat(43), proof: 'A'.repeat(43), claim: '0'.repeat(32) }
    const unknown = `/sealed/v1/secrets/${'0'.repeat(22)}/reveal`
    await site.api('POST', unknown, { json: reveal })
    await page.getByRole('button', { name: '7 d' }).click()
    await page.waitForURL('**/server/sealed?period=7d')
    await page.reload()
    await page.getByRole('button', { name: 'Revoke ci' }).click()
    await page.getByText('Programs that use it are refused immediately').waitFor()
    await page.getByRole('button', { name: 'Revoke token' }).click()
    await page.getByText('No API tokens').waitFor()
  })

  test('a viewer may look but not create tokens', async () => {
    const token = await site.addOperator('sealed-viewer', { role: 'viewer', services: ['sealed'] })
    const page = await site.asOperator({ token })
    await site.open(page, '/server/sealed')
    const create = page.getByRole('button', { name: 'Create token…' })
    await create.waitFor()
    expect(await create.getAttribute('aria-disabled')).toBe('true')
    await page.getByText('No API tokens').waitFor()
    expect(await pageProblems(page)).toEqual([])
  })
})
