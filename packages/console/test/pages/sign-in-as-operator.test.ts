import { appCode } from '@strongroom/kit/testing/authenticator-app'
import { createBootstrapCodes } from '@strongroom/server/operators/bootstrap'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Token' }).fill(token)
  await page.keyboard.press('Enter')
}

describeConsole('operators at the door of the console', (site) => {
  test('a token signs in and is not kept, and a wrong one is named at its field', async () => {
    const token = await site.addOperator('ada')
    const page = await site.visitor()
    await page.goto(`${site.origin}/console/server/audit`)
    await page.getByRole('form', { name: 'Sign in as an operator' }).waitFor()
    await signIn(page, 'sro_ada.wrong')
    await page.getByText('This is not a valid token of an operator').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'operator-sign-in')
    await signIn(page, token)
    await page.waitForURL('**/console/server/audit')
    const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))
    expect(kept).not.toContain(token)
    expect(site.lines.join('\n')).not.toContain(token)
  })

  test('the arrow keys choose between the two kinds of people', async () => {
    const page = await site.visitor()
    await site.open(page, '/sign-in')
    await page.getByRole('tab', { name: 'Ferryhook account' }).focus()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('form', { name: 'Sign in as an operator' }).waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.get('as')).toBe('operator')
    expect(await page.getByRole('tab', { selected: true }).textContent()).toBe('Operator')
  })

  test('a bootstrap link makes the first admin, leaves the address bar, and shows the token once', async () => {
    const codes = createBootstrapCodes({ db: site.db, clock: site.clock })
    const { code } = await codes.create()
    const page = await site.visitor()
    await page.goto(`${site.origin}/console/#bootstrap=${code}`)
    await page.getByRole('heading', { name: 'Become the first admin.' }).waitFor()
    await expect.poll(() => page.url()).toBe(`${site.origin}/console/`)
    await page.getByLabel('Your name as an operator').fill('grace')
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'bootstrap')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Welcome, grace.' }).waitFor()
    const token = (await page.locator('.command code').textContent()) ?? ''
    expect(token).toMatch(/^sro_grace\./)
    await page.getByRole('link', { name: 'I have stored it' }).click()
    await page.waitForURL('**/console/server')
    for (const secret of [code, token]) expect(site.lines.join('\n')).not.toContain(secret)
    const again = await site.visitor()
    await again.goto(`${site.origin}/console/#bootstrap=${code}`)
    await again.getByRole('button', { name: 'Continue' }).click()
    await again.getByRole('alert').waitFor()
  })

  test('a second factor is asked for after the token, also over a page whose session ended', async () => {
    const token = await site.addOperator('eve')
    const page = await site.asOperator({ token })
    const headers = { origin: site.origin }
    const at = (path: string) => `${site.origin}/server/v1/session${path}`
    await page.request.post(at('/verification'), { data: { method: 'token', token }, headers })
    const made = await page.request.post(at('/second-factor/totp'), { headers })
    const { secret } = (await made.json()) as { secret: string }
    const code = () => appCode(secret, site.clock.now())
    const confirmed = await page.request.put(at('/second-factor/totp'), {
      data: { code: code() },
      headers,
    })
    expect(confirmed.status()).toBe(200)
    await site.open(page, '/server/operators')
    site.clock.advance({ hours: 13 })
    await page.getByRole('link', { name: 'Audit log' }).click()
    await page.getByRole('heading', { name: 'Sign in again to continue' }).waitFor()
    await page.getByLabel('Token of eve').fill(token)
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Code' }).fill(code())
    await page.getByRole('heading', { name: 'One more step' }).waitFor({ state: 'detached' })
    await expect.poll(() => page.url()).toContain('/console/server/audit')
    const other = await site.visitor()
    await site.open(other, '/sign-in?as=operator')
    await signIn(other, token)
    await other.getByRole('heading', { name: 'One more step.' }).waitFor()
    site.clock.advance({ seconds: 30 })
    await other.getByRole('textbox', { name: 'Code' }).fill(code())
    await other.waitForURL('**/console/server')
  })
})
