import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'

describeConsole('the page of the key store', (site) => {
  test('lists keys, rotates one and all old ones as a job with progress', async () => {
    const token = await site.addOperator('keys-admin')
    const create = (id: string) =>
      site.api('POST', '/key-store/v1/keys', {
        token,
        json: { id, encryptionContext: { service: 'orders' } },
      })
    for (const id of ['orders:one', 'orders:two', 'orders:three']) await create(id)
    site.clock.advance({ days: 400 })
    await create('orders:young')
    const page = await site.asOperator({ token: await site.addOperator('keys-reader') })
    await site.open(page, '/server/keys')
    const rows = page.locator('.table-keys tbody tr')
    await expect.poll(() => rows.count()).toBeGreaterThanOrEqual(4)
    expect(await page.getByText('Over 365 days 3').count()).toBe(1)
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'keys')
    await page.setViewportSize({ width: 1280, height: 800 })

    await page.getByRole('button', { name: 'Rotate orders:one' }).click()
    await page.getByText('orders:one has a new version').waitFor()
    await page.getByText('Over 365 days 2').click()
    await page.waitForURL('**/server/keys?older=365d')
    await expect.poll(() => rows.count()).toBe(2)

    await page.getByRole('button', { name: 'Rotate old keys…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('strongroom keys rotate --all --older-than 365d').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'keys-rotate')
    await page.setViewportSize({ width: 1280, height: 800 })
    await dialog.getByRole('button', { name: 'Rotate 2 keys' }).click()
    await page.getByRole('heading', { name: 'Rotation of old keys' }).waitFor()
    await page.getByText('2 rotated, 2 young enough').waitFor()
    await page.getByText('No keys match').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'keys-rotated')
  })

  test('shows one key with its versions, and creates one from the keyboard', async () => {
    const page = await site.asOperator()
    await site.open(page, '/server/keys')
    await page.getByRole('button', { name: 'Create key' }).first().waitFor()
    await page.keyboard.press('n')
    await page.getByLabel('Id', { exact: true }).fill('shop:acme')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Encryption context').fill('tenant=acme')
    await page.keyboard.press('Enter')
    await page.waitForURL('**key=shop%3Aacme**')
    const dialog = page.getByRole('dialog', { name: 'shop:acme' })
    await dialog.getByText('tenant=acme').waitFor()
    await dialog.getByRole('button', { name: 'Rotate key' }).click()
    await dialog.getByText('Decrypts only').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'keys-detail')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
  })

  test('a viewer sees keys and why it may not change them', async () => {
    const token = await site.addOperator('looker', { role: 'viewer', services: ['key-store'] })
    const page = await site.asOperator({ token })
    await site.open(page, '/server/keys')
    await page.locator('.table-keys').waitFor()
    const rotate = page.getByRole('button', { name: 'Rotate old keys…' })
    expect(await rotate.getAttribute('aria-disabled')).toBe('true')
    expect(await rotate.getAttribute('title')).toContain('requires the role editor')
    expect(await page.getByRole('heading', { name: 'KMS' }).count()).toBe(0)
    expect(await pageProblems(page)).toEqual([])
  })
})
