import { appCode } from '@strongroom/kit/testing/authenticator-app'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type ConsoleSite, describeConsole, pageProblems, takeShots } from '../support/browser.ts'
import { PASSWORD } from '../support/console-server.ts'

async function signIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
}

/** Sets up an authenticator app in the page and returns its secret and the recovery codes. */
async function addApp(site: ConsoleSite, page: Page): Promise<{ secret: string; codes: string[] }> {
  await site.open(page, '/account/security')
  await page.getByRole('button', { name: 'Set up app…' }).click()
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
  const secret = (await page.locator('dialog .command code').textContent()) ?? ''
  await takeShots(page, 'app-setup')
  await page.getByRole('textbox', { name: 'Code' }).fill(appCode(secret, site.clock.now()))
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Store your recovery codes' }).waitFor()
  const codes = await page.locator('.recovery-codes li').allTextContents()
  await takeShots(page, 'recovery-codes')
  await page.getByRole('button', { name: 'I have stored them' }).click()
  return { secret, codes }
}

/** A device with a fingerprint sensor that always agrees. */
async function addAuthenticator(page: Page): Promise<void> {
  const debug = await page.context().newCDPSession(page)
  await debug.send('WebAuthn.enable')
  await debug.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

describeConsole('the account in the console', (site) => {
  test('name, address and password can be changed, and what was typed stays when that fails', async () => {
    const { email } = await site.addUser()
    const page = await site.signedIn({ email })
    await site.open(page, '/account')
    const names = page.getByRole('form', { name: 'Name' })
    await names.getByLabel('Name').fill('Ada Lovelace')
    await names.getByRole('button', { name: 'Save name' }).click()
    await page.getByText('The name was saved').waitFor()
    const passwords = page.getByRole('form', { name: 'Password' })
    await passwords.getByLabel('Current password').fill('incorrect horse')
    await passwords.getByLabel('New password').fill('a much better password')
    await passwords.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('The current password is wrong').waitFor()
    expect(await passwords.getByLabel('New password').inputValue()).toBe('a much better password')
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'account')
    await passwords.getByLabel('Current password').fill(PASSWORD)
    await passwords.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('The password was changed').waitFor()
    const mails = page.getByRole('form', { name: 'E-mail' })
    await mails.getByLabel('E-mail').fill(`new-${email}`)
    await mails.getByLabel('Current password').fill('a much better password')
    await mails.getByRole('button', { name: 'Change e-mail' }).click()
    await page.getByText('The e-mail address was changed').waitFor()
    const again = await site.visitor()
    await site.open(again, '/sign-in')
    await signIn(again, `new-${email}`, 'a much better password')
    await again.waitForURL('**/console/overview')
  })

  test('an app protects the account: a code signs in, then a recovery code', async () => {
    const { email } = await site.addUser()
    const page = await site.signedIn({ email })
    const { secret, codes } = await addApp(site, page)
    expect(codes).toHaveLength(10)
    await page.getByText('10 codes left').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'security')
    const other = await site.visitor()
    await site.open(other, '/sign-in?next=/sources')
    await signIn(other, email)
    await other.getByRole('heading', { name: 'One more step.' }).waitFor()
    expect(await pageProblems(other)).toEqual([])
    await takeShots(other, 'second-factor')
    await other.getByRole('textbox', { name: 'Code' }).fill('000000')
    await other.getByText('The code is wrong, expired or used').waitFor()
    site.clock.advance({ seconds: 30 })
    await other.getByRole('textbox', { name: 'Code' }).fill(appCode(secret, site.clock.now()))
    await other.waitForURL('**/console/sources')
    const third = await site.visitor()
    await site.open(third, '/sign-in')
    await signIn(third, email)
    await third.getByRole('button', { name: 'Use a recovery code' }).click()
    await third.getByLabel('Recovery code').fill(codes[0]?.toLowerCase() ?? '')
    await third.keyboard.press('Enter')
    await third.waitForURL('**/console/overview')
    expect(site.lines.join('\n')).not.toContain(secret)
  })

  test('a passkey is added, signs in, and is removed', async () => {
    const { email } = await site.addUser()
    const page = await site.signedIn({ email })
    await addAuthenticator(page)
    await site.open(page, '/account/security')
    await page.getByRole('button', { name: 'Add passkey…' }).click()
    await page.getByLabel('Name of the passkey').fill('Laptop')
    await page.getByLabel('Current password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'I have stored them' }).click()
    await page.getByText('Passkey “Laptop”').waitFor()
    await page.getByRole('button', { expanded: false }).filter({ hasText: '@' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to the console.' }).waitFor()
    await signIn(page, email)
    await page.getByRole('button', { name: 'Continue with a passkey' }).click()
    await page.waitForURL('**/console/overview')
    await site.open(page, '/account/security')
    await page.getByRole('button', { name: 'Remove the passkey Laptop' }).click()
    await page.getByText('This is your last factor').waitFor()
    await page.getByLabel('Confirm with').selectOption('passkey')
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('Whoever learns your password can sign in').waitFor()
    expect(await page.getByRole('listitem').filter({ hasText: '“Laptop”' }).count()).toBe(0)
  })

  test('sessions are listed with their browser, and one that is ended asks to sign in again', async () => {
    const { email } = await site.addUser()
    const page = await site.signedIn({ email })
    const other = await site.signedIn({ email })
    await site.open(other, '/sources')
    await site.open(page, '/account/sessions')
    await page.getByText('This session').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'sessions')
    await page.getByRole('button', { name: 'End all others' }).click()
    await page.getByText(/sessions? ended/).waitFor()
    await other.getByRole('link', { name: 'API keys' }).click()
    await other.getByRole('heading', { name: 'Sign in again to continue' }).waitFor()
    await expect.poll(() => other.url()).toContain('/console/api-keys')
  })

  test('a session that ends in the middle of a form loses nothing that was typed', async () => {
    const { email } = await site.addUser()
    const page = await site.signedIn({ email })
    const { secret } = await addApp(site, page)
    await site.open(page, '/account')
    const names = page.getByRole('form', { name: 'Name' })
    await names.getByLabel('Name').fill('Half typed')
    // Another browser ends it.
    const cookies = await page.context().cookies()
    await page.context().clearCookies()
    site.clock.advance({ hours: 2 })
    await names.getByRole('button', { name: 'Save name' }).click()
    await page.getByRole('heading', { name: 'Sign in again to continue' }).waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'session-ended')
    await page.getByLabel(`Password for ${email}`).fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Code' }).fill(appCode(secret, site.clock.now()))
    await page.getByText('The name was saved').waitFor()
    expect(await names.getByLabel('Name').inputValue()).toBe('Half typed')
    expect(cookies.length).toBeGreaterThan(0)
  })

  test('an account is deleted after its address was typed, and nothing of it is left', async () => {
    const { email } = await site.addUser()
    const page = await site.signedIn({ email })
    await site.open(page, '/account/export')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the export' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('ferryhook-account.json')
    await page.getByRole('button', { name: 'Delete account…' }).click()
    const confirm = page.getByRole('button', { name: 'Delete account', exact: true })
    expect(await confirm.getAttribute('aria-disabled')).toBe('true')
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'delete-account')
    await page.getByLabel('Current password').fill(PASSWORD)
    await page.getByLabel(`Type ${email} to confirm`).fill(email)
    await confirm.click()
    await page.getByRole('heading', { name: 'Sign in to the console.' }).waitFor()
    await signIn(page, email)
    await page.getByText('E-mail or password is wrong').waitFor()
  })

  test('two accounts in two browsers never see each other, and one browser shows only who is signed in', async () => {
    const [ada, bob] = [
      await site.addUser({ name: 'Ada A.' }),
      await site.addUser({ name: 'Bob B.' }),
    ]
    const page = await site.signedIn({ email: ada.email })
    await site.open(page, '/account')
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Ada A.')
    const second = await page.context().newPage()
    // Bob signs in in another tab of the same browser, which replaces the session.
    await second.request.post(`${site.origin}/ferryhook/v1/auth/login`, {
      data: { email: bob.email, password: PASSWORD },
      headers: { origin: site.origin },
    })
    site.clock.advance({ hours: 2 })
    await page.getByRole('link', { name: 'Sessions' }).click()
    await page.waitForURL('**/console/overview')
    await site.open(page, '/account')
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Bob B.')
  })

  test('preferences of the browser are kept', async () => {
    const page = await site.signedIn()
    await site.open(page, '/account')
    await page.getByLabel('Single-key shortcuts').uncheck()
    await page.getByLabel('Times').selectOption('utc')
    await site.open(page, '/account')
    expect(await page.getByLabel('Single-key shortcuts').isChecked()).toBe(false)
    expect(await page.getByLabel('Times').inputValue()).toBe('utc')
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await expect.poll(() => page.url()).toContain('/console/account')
  })
})
