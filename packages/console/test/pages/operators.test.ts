import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'

describeConsole('the operators', (site) => {
  test('are listed with role, services and expiry, and one is added with a token that is shown once', async () => {
    await site.addOperator('backup')
    const page = await site.asOperator({ token: await site.addOperator('ada') })
    await site.open(page, '/server/operators')
    await page.getByRole('link', { name: 'backup' }).waitFor()
    expect(await pageProblems(page)).toEqual([])

    await page.getByRole('button', { name: 'Add operator' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add an operator' })
    await dialog.getByLabel('Name').fill('Not a name')
    await dialog.getByRole('button', { name: 'Add operator' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Name').fill('night-watch')
    await dialog.getByLabel('All, and the server itself').uncheck()
    await dialog.getByLabel('form-bridge').check()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'operator-add')
    await dialog.getByRole('button', { name: 'Add operator' }).click()
    const once = page.getByRole('dialog', { name: 'Token of night-watch' })
    const token = (await once.locator('code').textContent()) ?? ''
    expect(token).toMatch(/^sro_night-watch\./)
    await once.getByRole('button', { name: 'I have stored it' }).click()
    const row = page.getByRole('row').filter({ hasText: 'night-watch' })
    expect(await row.textContent()).toContain('form-bridge')
    await takeShots(page, 'operators')
    expect(await page.content()).not.toContain(token)
  })

  test('change their rights, get a new token and are removed, each with the command beside it', async () => {
    await site.addOperator('bob')
    const page = await site.asOperator({ token: await site.addOperator('eve') })
    await site.open(page, '/server/operators?operator=bob')
    await page.getByText('strongroom operator rotate bob').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'operator')

    await page.getByRole('button', { name: 'Change rights…' }).click()
    await page
      .getByRole('dialog')
      .getByRole('radio', { name: /^viewer/ })
      .check()
    await page.getByRole('button', { name: 'Change rights', exact: true }).click()
    await page.getByText('viewer: reads everything').waitFor()

    await page.getByRole('button', { name: 'Rotate token…' }).click()
    await page.getByRole('button', { name: 'Rotate token', exact: true }).click()
    const once = page.getByRole('dialog', { name: 'New token of bob' })
    expect(await once.locator('code').textContent()).toMatch(/^sro_bob\./)
    await once.getByRole('button', { name: 'I have stored it' }).click()

    await page.getByRole('button', { name: 'Remove operator…' }).click()
    const remove = page.getByRole('dialog', { name: 'Remove bob?' })
    await remove.getByLabel('Type bob to confirm').fill('bob')
    await takeShots(page, 'operator-remove')
    await remove.getByRole('button', { name: 'Remove operator' }).click()
    await page.waitForURL('**/console/server/operators')
    await expect.poll(() => page.getByRole('link', { name: 'bob' }).count()).toBe(0)
  })

  test('who may not manage operators see why, and cannot', async () => {
    const token = await site.addOperator('viewer', { role: 'viewer' })
    const page = await site.asOperator({ token })
    await site.open(page, '/server/operators')
    const add = page.getByRole('button', { name: 'Add operator' })
    expect(await add.getAttribute('aria-disabled')).toBe('true')
    expect(await add.getAttribute('title')).toContain('requires the role admin')
    await add.click({ force: true })
    await page.getByText('This requires the role admin').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test('that do not exist are named in the address that shows them', async () => {
    const page = await site.asOperator()
    await site.open(page, '/server/operators?operator=nobody')
    await page.getByText('Operator not found').waitFor()
    expect(await pageProblems(page)).toEqual([])
  })
})
