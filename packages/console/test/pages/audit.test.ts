import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'
import { addAccount, type SeededAccount, seedAccount } from '../support/seed-events.ts'

describeConsole(
  'the audit log',
  (site) => {
    let seeded: Promise<SeededAccount> | undefined
    const account = () => (seeded ??= seedAccount(site))

    test('the audit log shows before and after, filtered by what is in the address', async () => {
      const { email, token, sources, connections } = await account()
      const change = (path: string, json: object) =>
        site.api('PATCH', `/ferryhook/v1${path}`, { token, json })
      await change(`/sources/${sources.github}`, { name: 'GitHub shop' })
      await change(`/connections/${connections.healthy}`, { retryConfig: [1, 2] })
      await change(`/connections/${connections.healthy}`, { retryConfig: [1, 2, 3] })
      const page = await site.signedIn({ email })
      await site.open(page, '/audit')
      const row = page.getByRole('row', { name: 'Changed a source' })
      expect(await row.locator('del').textContent()).toBe('Before: name: GitHub acme/shop')
      expect(await row.locator('ins').textContent()).toBe('After: name: GitHub shop')
      expect(await row.textContent()).toContain(email)
      expect(await row.locator('time').getAttribute('title')).toMatch(/\d\d:\d\d:\d\d\.\d{3} UTC/)
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'audit')
      await page.getByLabel('What').selectOption('connection.changed')
      await page.waitForURL('**action=connection.changed**')
      const changes = page.getByRole('row', { name: 'Changed a connection' })
      await expect.poll(() => page.locator('tbody tr:not(.day)').count()).toBe(2)
      expect(await changes.first().textContent()).toMatch(/\[1,2\].*\[1,2,3\]/)
      await page.reload()
      await expect.poll(() => page.locator('tbody tr:not(.day)').count()).toBe(2)
      await changes.first().getByRole('link', { name: 'Only Billing service' }).click()
      await page.getByRole('button', { name: 'Remove filter target' }).click()
      await page.getByLabel('What').selectOption('')
      await page.getByLabel('Who').selectOption({ index: 1 })
      await page.waitForURL('**who=user**')
      await row.waitFor()
    })

    test('the audit log names a filter without a match and offers the nearest one', async () => {
      const { email } = await account()
      const page = await site.signedIn({ email })
      await site.open(page, '/audit?action=identity.*&last=24h')
      await page.getByRole('heading', { name: 'No entries match the filter' }).waitFor()
      await page.getByRole('button', { name: 'Show the last 30 days' }).click()
      await page.waitForURL('**last=30d**')
      await page.getByRole('button', { name: 'Remove the filter' }).click()
      const entry = page.getByRole('row', { name: 'Signed in' }).first()
      await expect.poll(() => entry.count()).toBe(1)
    })

    test('the audit log continues with older entries and is exported as CSV', async () => {
      const { email, token } = await addAccount(site)
      for (let n = 0; n < 60; n++)
        await site.api('POST', '/ferryhook/v1/api-keys', {
          token,
          json: { name: `=key ${n}`, permissions: 'read' },
        })
      const page = await site.signedIn({ email })
      await site.open(page, '/audit')
      const rows = page.locator('tbody tr:not(.day)')
      await rows.first().waitFor()
      expect(await rows.count()).toBe(50)
      await page.getByRole('button', { name: 'Load older' }).click()
      await expect.poll(() => rows.count()).toBeGreaterThan(60)
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Export as CSV' }).click()
      const stream = await (await download).createReadStream()
      let text = ''
      for await (const chunk of stream) text += String(chunk)
      expect(text.split('\r\n')[0]).toBe('"time","actor","action","target","changes"')
      expect(text).toContain('"api_key.created"')
      expect(text.split('\r\n').length).toBeGreaterThan(61)
    })
  },
  { FERRYHOOK_DELIVER: 'false' },
)
