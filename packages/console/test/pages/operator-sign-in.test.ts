import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { totpCode, totpStep } from '@strongroom/kit/second-factor/totp'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'

describeConsole('the sign-in of an operator', (site) => {
  const codeOf = (key: string) => {
    const bits = Array.from(key.replaceAll(' ', ''), (letter) =>
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
    ).join('')
    const bytes = Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
    return totpCode(bytes, totpStep(site.clock.now()))
  }
  const dialog = (page: Page, name: string) => page.getByRole('dialog', { name })
  const storeCodes = async (page: Page) => {
    const codes = dialog(page, 'Store your recovery codes')
    await codes.waitFor()
    const list = await codes.getByRole('listitem').allTextContents()
    await codes.getByRole('button', { name: 'I have stored them' }).click()
    await codes.waitFor({ state: 'detached' })
    return list
  }
  /** A platform authenticator whose user is always verified. */
  const addAuthenticator = async (page: Page) => {
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
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

  test('an authenticator app is set up with a QR code, shows recovery codes once, and can be removed', async () => {
    const page = await site.asOperator()
    await site.open(page, '/server/security')
    await page.getByText('Not set up').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'security-empty')

    await page.getByRole('button', { name: 'Set up app…' }).click()
    const setup = dialog(page, 'Set up an authenticator app')
    await setup.getByRole('img', { name: 'QR code of the key for the app' }).waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'security-app')
    await setup.getByLabel('Code', { exact: true }).fill('000000')
    await setup.getByRole('button', { name: 'Add app' }).click()
    await setup.getByRole('alert').waitFor()
    const key = (await setup.locator('code').textContent()) ?? ''
    await setup.getByLabel('Code', { exact: true }).fill(codeOf(key))
    await page.keyboard.press('Enter')

    await dialog(page, 'Store your recovery codes').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'security-codes')
    expect(await storeCodes(page)).toHaveLength(10)
    await page.getByText('10 of 10 left').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'security')

    await page.getByRole('button', { name: 'Remove authenticator app…' }).click()
    await dialog(page, 'Remove the authenticator app?')
      .getByText('your last second factor')
      .waitFor()
    await page.getByRole('button', { name: 'Remove app', exact: true }).click()
    await page.getByText('Not set up').waitFor()
  })

  test('a passkey is added, verifies after ten minutes, is renamed and removed', async () => {
    const page = await site.asOperator()
    await addAuthenticator(page)
    await site.open(page, '/server/security')
    await page.getByRole('button', { name: 'Add passkey…' }).click()
    await dialog(page, 'Add a passkey').getByLabel('Name').fill('Laptop')
    await page.getByRole('button', { name: 'Create passkey' }).click()
    await storeCodes(page)
    await page.getByText('Laptop').waitFor()

    await page.getByRole('button', { name: 'Rename Laptop…' }).click()
    await dialog(page, 'Rename Laptop').getByLabel('Name').fill('Work laptop')
    await page.getByRole('button', { name: 'Rename passkey' }).click()
    await page.getByText('Work laptop').waitFor()

    site.clock.advance({ minutes: 11 })
    await page.getByRole('button', { name: 'Replace codes…' }).click()
    await page.getByRole('button', { name: 'Replace codes', exact: true }).click()
    const verify = dialog(page, 'Verify that it is you')
    await verify.waitFor()
    expect(await pageProblems(page)).toEqual([])
    await verify.getByRole('button', { name: 'Use passkey' }).click()
    expect(await storeCodes(page)).toHaveLength(10)

    await page.getByRole('button', { name: 'Remove Work laptop…' }).click()
    await page.getByRole('button', { name: 'Remove passkey', exact: true }).click()
    await page.getByText('Not set up').waitFor()
  })

  test('an old session verifies with the token, and a wrong one says so without signing out', async () => {
    const token = await site.addOperator('verifier')
    const page = await site.asOperator({ token })
    await site.open(page, '/server/security')
    await page.getByText('Not set up').waitFor()
    site.clock.advance({ minutes: 11 })
    await page.getByRole('button', { name: 'Set up app…' }).click()
    const verify = dialog(page, 'Verify that it is you')
    await verify.getByLabel('Token').fill('sro_verifier.wrong')
    await verify.getByRole('button', { name: 'Verify' }).click()
    await verify.getByText('The token is wrong').waitFor()
    await verify.getByLabel('Token').fill(token)
    await page.keyboard.press('Enter')
    await dialog(page, 'Set up an authenticator app').waitFor()
    expect(await verify.count()).toBe(0)
  })

  test('other sessions are listed and can be ended', async () => {
    const token = await site.addOperator('two-browsers')
    const [page, other] = [await site.asOperator({ token }), await site.asOperator({ token })]
    await site.open(page, '/server/security')
    await page.getByText('This browser').waitFor()
    const row = page.getByRole('row').filter({ hasNotText: 'This browser' }).last()
    await row.getByRole('button', { name: /^End session/ }).click()
    await page.getByRole('button', { name: 'End session', exact: true }).click()
    await page.getByText('The session has ended.').waitFor()
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    expect((await other.request.get(`${site.origin}/server/v1/session`)).status()).toBe(401)
  })
})

describeConsole(
  'a server that requires a second factor from admins',
  (site) => {
    test('shows an admin without one nothing but its setup', async () => {
      const page = await site.asOperator()
      await page.goto(`${site.origin}/console/server/operators`)
      await page.waitForURL('**/console/server/security')
      await page.getByText('Add a second factor to continue').waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'security-required')
    })
  },
  { STRONGROOM_REQUIRE_2FA: 'true' },
)
