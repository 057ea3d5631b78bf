import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'
import { seedAccount } from '../support/seed-events.ts'

describeConsole(
  'accounts of Ferryhook for operators',
  (site) => {
    test('an operator finds an account, changes its plan and creates a reset link that is shown once', async () => {
      const { email } = await site.addUser({ name: 'Ada' })
      const page = await site.asOperator()
      await site.open(page, '/server/accounts')
      await page.getByRole('link', { name: email }).waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'accounts')
      await page.getByRole('link', { name: email }).click()
      await page.getByRole('heading', { level: 1, name: email }).waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'account-of-user')
      await page.getByRole('combobox', { name: 'Plan' }).selectOption('free')
      await page.getByRole('button', { name: 'Change plan' }).click()
      await page.getByRole('status').getByText(/plan/i).waitFor()
      await page.getByRole('button', { name: 'Create reset link…' }).click()
      await page.getByRole('button', { name: 'Create link' }).click()
      const link = page.getByRole('dialog').locator('code')
      expect(await link.textContent()).toContain('#ticket=')
      await page.getByRole('button', { name: 'I have stored it' }).click()
      await page.reload()
      await page.getByRole('heading', { level: 1, name: email }).waitFor()
      expect(await page.getByText('#ticket=').count()).toBe(0)
      expect(await page.getByRole('combobox', { name: 'Plan' }).inputValue()).toBe('free')
    })

    test('an account is deleted after its address was typed, and then it is unknown', async () => {
      const { email } = await site.addUser()
      const page = await site.asOperator()
      await site.open(page, '/server/accounts')
      await page.getByRole('link', { name: email }).click()
      await page.getByRole('button', { name: 'Delete account…' }).click()
      const dialog = page.getByRole('dialog')
      const confirm = dialog.getByRole('button', { name: 'Delete account' })
      expect(await confirm.getAttribute('aria-disabled')).toBe('true')
      await dialog.getByRole('textbox').fill(email)
      await confirm.click()
      await page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor()
      expect(await page.getByRole('link', { name: email }).count()).toBe(0)
    })

    test('a viewer sees what it may not do, with the reason', async () => {
      const { email } = await site.addUser()
      const token = await site.addOperator('looking', { role: 'viewer' })
      const page = await site.asOperator({ token })
      await site.open(page, '/server/accounts')
      await page.getByRole('link', { name: email }).click()
      const remove = page.getByRole('button', { name: 'Delete account…' })
      await remove.waitFor()
      expect(await remove.getAttribute('aria-disabled')).toBe('true')
      expect(await remove.getAttribute('title')).toContain('requires the role admin')
    })

    test('connections that fail are listed with their account, and without their path', async () => {
      const { email } = await seedAccount(site)
      const page = await site.asOperator()
      await site.open(page, '/server/failing')
      await page.getByText('Data warehouse').waitFor()
      await page.getByRole('link', { name: email }).waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'failing')
    })
  },
  { FERRYHOOK_DELIVER: 'false' },
)
