import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'
import { PASSWORD } from '../support/console-server.ts'

describeConsole('signing in to the console', (site) => {
  test('with a Ferryhook account leads to the page that was asked for, by keyboard alone', async () => {
    const { email } = await site.addUser()
    const page = await site.visitor()
    await page.goto(`${site.origin}/console/events?status=failed`)
    await page.getByRole('form', { name: 'Sign in with a Ferryhook account' }).waitFor()
    // The first field has the focus.
    await page.keyboard.type(email)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/events?status=failed')
    expect(await page.evaluate(() => Object.values(localStorage).join())).not.toContain('ey')
  })

  test('looks right, has no problem of accessibility, and names a wrong password at its field', async () => {
    const page = await site.visitor()
    await site.open(page, '/sign-in')
    await page.getByLabel('E-mail').fill('dev@acme.example')
    await page.getByLabel('Password').fill('correct-horse')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('E-mail or password is wrong').waitFor()
    expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true')
    expect(await page.getByLabel('E-mail').inputValue()).toBe('dev@acme.example')
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'sign-in')
    expect(await page.getByLabel('E-mail').getAttribute('autocomplete')).toBe('username')
    expect(await page.getByLabel('Password').getAttribute('autocomplete')).toBe('current-password')
  })

  test('an unknown address and a wrong password look the same', async () => {
    const { email } = await site.addUser()
    const texts = []
    for (const address of [email, 'nobody@example.com']) {
      const page = await site.visitor()
      await site.open(page, '/sign-in')
      await page.getByLabel('E-mail').fill(address)
      await page.getByLabel('Password').fill('incorrect horse')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').waitFor()
      texts.push(await page.getByRole('main').innerText())
    }
    expect(texts[0]).toBe(texts[1])
  })

  test('never leads to another site', async () => {
    const { email } = await site.addUser()
    for (const next of [
      'https://evil.example/',
      '//evil.example/',
      '/\\evil.example',
      '/../sealed/',
    ]) {
      const page = await site.visitor()
      await page.goto(`${site.origin}/console/sign-in?${new URLSearchParams({ next }).toString()}`)
      await page.getByLabel('E-mail').fill(email)
      await page.getByLabel('Password').fill(PASSWORD)
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/console\/overview/)
      await expect.poll(() => new URL(page.url()).origin).toBe(site.origin)
    }
  })

  test('the addresses of mails and providers open the pages of the console, with their fragment', async () => {
    const page = await site.visitor()
    await page.goto(`${site.origin}/ferryhook/sign-in?next=/console/sources`)
    await page.getByRole('heading', { name: 'Sign in to the console.' }).waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.get('next')).toBe('/console/sources')
    const { email } = await site.addUser()
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/sources')
  })

  test('sign-up creates an account with an invite, which leaves the address bar', async () => {
    const token = await site.addOperator('inviter')
    const { body } = await site.api<{ url: string; ticket: string }>(
      'POST',
      '/ferryhook/v1/invites',
      { token },
    )
    expect(body.url).toContain('/console/sign-up#invite=')
    const page = await site.visitor()
    await page.goto(body.url.replace('/console/sign-up', '/ferryhook/sign-up'))
    await page.getByRole('heading', { name: 'Create your account.' }).waitFor()
    await expect.poll(() => page.url()).toBe(`${site.origin}/console/sign-up`)
    await page.getByLabel('Name').fill('Ada')
    await page.getByLabel('E-mail').fill('ada@example.com')
    await page.getByLabel('Password').fill('short')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('Must have at least 10 characters').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'sign-up')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/overview')
    expect(site.lines.join('\n')).not.toContain(body.ticket)
    expect(site.lines.join('\n')).not.toContain(PASSWORD)
  })

  test('a reset link sets a password, leaves the address bar, and the new password signs in', async () => {
    const { email } = await site.addUser()
    const token = await site.addOperator('resetter')
    const found = await site.api<{ items: { id: string }[] }>(
      'GET',
      `/ferryhook/v1/users?email=${email}`,
      { token },
    )
    const made = await site.api<{ url: string }>(
      'POST',
      `/ferryhook/v1/users/${found.body.items[0]?.id}/password-resets`,
      { token },
    )
    const page = await site.visitor()
    await page.goto(made.body.url)
    await page.getByLabel('New password').fill('another long password')
    await expect.poll(() => page.url()).toBe(`${site.origin}/console/reset`)
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'reset')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'The password was set' }).waitFor()
    await page.getByRole('link', { name: 'Sign in', exact: true }).click()
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill('another long password')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/overview')
    // Used up.
    const again = await site.visitor()
    await again.goto(made.body.url)
    await again.getByLabel('New password').fill('another long password')
    await again.keyboard.press('Enter')
    await again.getByText('The link is invalid, expired or used').waitFor()
  })

  test('without mail, the page for forgotten passwords says whom to ask', async () => {
    const page = await site.visitor()
    await site.open(page, '/forgotten')
    await page.getByRole('heading', { name: 'This server sends no mail' }).waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'forgotten')
  })

  test('on an address that is not encrypted there is no form, but the two ways out', async () => {
    const page = await site.visitor()
    await page.route('http://console.example/**', async (route) => {
      const { pathname, search } = new URL(route.request().url())
      await route.fulfill({ response: await route.fetch({ url: site.origin + pathname + search }) })
    })
    await page.goto('http://console.example/console/events')
    await page.getByRole('heading', { name: 'This address is not encrypted' }).waitFor()
    expect(await page.locator('input').count()).toBe(0)
    const text = await page.getByRole('main').innerText()
    expect(text).toContain('PUBLIC_URL')
    expect(text).toContain('ssh -L 8080:localhost:80 console.example')
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'not-encrypted')
    // Browsers say so for every page on such an address.
    const isExpected = (line: string) => /Cross-Origin-Opener-Policy|origin-keyed/.test(line)
    expect(site.complaints.splice(0).filter((line) => !isExpected(line))).toEqual([])
  })

  test('after signing out, the back button shows nothing, and other tabs are signed out', async () => {
    const page = await site.signedIn()
    await site.open(page, '/sources')
    const other = await page.context().newPage()
    await site.open(other, '/api-keys')
    await page.getByRole('button', { expanded: false }).filter({ hasText: '@' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to the console.' }).waitFor()
    await other.getByRole('heading', { name: 'Sign in to the console.' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Sign in to the console.' }).waitFor()
    expect(await page.getByRole('navigation', { name: 'Pages' }).count()).toBe(0)
  })
})
