import { createBootstrapCodes } from '@strongroom/server/operators/bootstrap'
import { expect, test } from 'vitest'
import { describeConsole, pageProblems } from '../support/browser.ts'

/** The settings of a first start: accounts by invite. */
const env = { FERRYHOOK_SIGNUP: 'invite' }

describeConsole(
  'the first visit',
  (site) => {
    test('leads from the bootstrap link to a delivered webhook in ten clicks', async () => {
      const { code } = await createBootstrapCodes(site).create()
      const page = await site.visitor()
      let clicks = 0
      const click = async (role: 'button' | 'link' | 'radio', name: string | RegExp) => {
        await page.getByRole(role, { name }).first().click()
        clicks++
      }

      await page.goto(`${site.origin}/console/#bootstrap=${code}`)
      await page.getByLabel('Your name as an operator').waitFor()
      await expect.poll(() => page.url()).not.toContain(code)
      await click('button', 'Continue')
      await click('link', 'I have stored it')
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      expect(await pageProblems(page)).toEqual([])
      await click('button', 'Create my Ferryhook account')
      await page.getByLabel('Name').fill('Ada')
      await page.getByLabel('E-mail').fill('ada@example.com')
      await page.getByLabel('Password').fill('correct horse battery staple')
      await click('button', /Sign up|Create account/)
      await click('link', /New source|Create a source|Create source/)
      await click('radio', 'GitHub')
      await click('button', 'Continue')
      await page.getByLabel('Webhook secret').fill('a long random text')
      await click('button', 'Create source')
      await click('button', 'Send a test event')
      await page.getByText('Signature verified').waitFor()
      await click('button', 'Deliver it to the test destination')
      await page.getByText('The test destination received it').waitFor()
      expect(clicks).toBe(10)
    })

    test('the code works once: a second browser is told so', async () => {
      const { code } = await createBootstrapCodes(site).create()
      const open = async () => {
        const page = await site.visitor()
        await page.goto(`${site.origin}/console/#bootstrap=${code}`)
        await page.getByLabel('Your name as an operator').waitFor()
        return page
      }
      const [first, second] = [await open(), await open()]
      await first.getByLabel('Your name as an operator').fill('first')
      await first.getByRole('button', { name: 'Continue' }).click()
      await first.getByText('Your token').first().waitFor()
      await second.getByLabel('Your name as an operator').fill('second')
      await second.getByRole('button', { name: 'Continue' }).click()
      await second.getByText('The bootstrap code is wrong, used or expired').waitFor()
      expect(await second.getByText('sro_').count()).toBe(0)
    })
  },
  env,
)
