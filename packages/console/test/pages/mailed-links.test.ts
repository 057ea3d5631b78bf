import { appCode } from '@strongroom/kit/testing/authenticator-app'
import { afterAll, expect, test } from 'vitest'
import { openMailbox } from '../../../ferryhook/test/support/mailbox.ts'
import { describeConsole, pageProblems } from '../support/browser.ts'
import { PASSWORD } from '../support/console-server.ts'

const mailbox = await openMailbox()
afterAll(() => mailbox.close())

/** The link in the newest mail to this address. */
function linkTo(email: string): string {
  const mail = mailbox.received.findLast(({ to }) => to.includes(email))
  return /http:\S+/.exec(mail?.text ?? '')?.[0] ?? ''
}

describeConsole(
  'links in mails',
  (site) => {
    test('verify the address after signing in, and then reset a forgotten password', async () => {
      const { email } = await site.addUser()
      await mailbox.until(1)
      const page = await site.visitor()
      await page.goto(linkTo(email))
      await page.getByRole('heading', { name: 'Verify your address.' }).waitFor()
      await expect.poll(() => page.url()).toBe(`${site.origin}/console/verify-email`)
      expect(await pageProblems(page)).toEqual([])
      await page.getByLabel('E-mail').fill(email)
      await page.getByLabel('Password').fill(PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: `${email} is verified` }).waitFor()

      const forgetful = await site.visitor()
      await site.open(forgetful, '/sign-in')
      await forgetful.getByRole('link', { name: 'Forgotten?' }).click()
      await forgetful.getByLabel('E-mail').fill(email)
      await forgetful.keyboard.press('Enter')
      await forgetful.getByRole('heading', { name: 'Look into your mailbox' }).waitFor()
      await mailbox.until(2)
      await forgetful.goto(linkTo(email))
      await forgetful.getByRole('textbox', { name: 'New password' }).fill('another long password')
      await forgetful.keyboard.press('Enter')
      await forgetful.getByRole('heading', { name: 'The password was set' }).waitFor()
      for (const { text } of mailbox.received) {
        const [, secret = ''] = /#\w+=(\S+)/.exec(text) ?? []
        expect(secret.length).toBeGreaterThan(20)
        expect(site.lines.join('\n')).not.toContain(secret)
      }
    })

    test('the page for an unknown address looks like that for a known one', async () => {
      const page = await site.visitor()
      await site.open(page, '/forgotten')
      await page.getByLabel('E-mail').fill('nobody@example.com')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Look into your mailbox' }).waitFor()
      expect(mailbox.received.some(({ to }) => to.includes('nobody@example.com'))).toBe(false)
    })
  },
  mailbox.env,
)

describeConsole('the return from a provider', (site) => {
  test('explains why a sign-in failed, and the code leaves the address bar', async () => {
    const page = await site.visitor()
    await page.goto(`${site.origin}/console/sign-in#error=ferryhook.email_taken`)
    await page.getByText('Sign in with its password, and link the identity').waitFor()
    await expect.poll(() => page.url()).toBe(`${site.origin}/console/sign-in`)
    expect(await pageProblems(page)).toEqual([])
  })

  test('asks for the second factor of the sign-in that began, and says so if there is none', async () => {
    const { email } = await site.addUser()
    const login = await site.api<{ accessToken: string }>('POST', '/ferryhook/v1/auth/login', {
      json: { email, password: PASSWORD },
    })
    const token = login.body.accessToken
    const path = '/ferryhook/v1/account/second-factor/totp'
    const started = await site.api<{ secret: string }>('POST', path, {
      token,
      json: { currentPassword: PASSWORD },
    })
    const code = () => appCode(started.body.secret, site.clock.now())
    await site.api('POST', `${path}/confirm`, { token, json: { code: code() } })
    const page = await site.visitor()
    await page.request.post(`${site.origin}/ferryhook/v1/auth/login`, {
      data: { email, password: PASSWORD },
      headers: { origin: site.origin },
    })
    await page.goto(`${site.origin}/console/sign-in?next=%2Fconsole%2Fsources#second-factor`)
    await page.getByRole('heading', { name: 'One more step.' }).waitFor()
    site.clock.advance({ seconds: 30 })
    await page.getByRole('textbox', { name: 'Code' }).fill(code())
    await page.waitForURL('**/console/sources')
    const nobody = await site.visitor()
    await nobody.goto(`${site.origin}/console/sign-in#second-factor`)
    await nobody.getByText('Start again with the first step').waitFor()
    await expect.poll(() => nobody.url()).toBe(`${site.origin}/console/sign-in`)
  })
})
