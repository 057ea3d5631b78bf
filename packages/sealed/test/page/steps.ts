/** Steps of users, by the accessible names of the controls. */
import type { Locator, Page } from 'playwright-core'
import { HOLD_MS } from '../../src/page/browser/hold.ts'

export interface SealOptions {
  passphrase?: string
  views?: number
  receipt?: boolean
}

export interface Links {
  link: string
  management: string
}

/** Fills in the form of the page that is open, and sends it. */
export async function order(page: Page, text: string, options: SealOptions = {}) {
  await page.getByLabel('Your secret').fill(text)
  if (options.views !== undefined) {
    await page.getByRole('radio', { name: String(options.views), exact: true }).check()
  }
  if (options.passphrase !== undefined) {
    await page.getByRole('switch', { name: 'Passphrase' }).check()
    await page.getByRole('textbox', { name: 'Passphrase' }).fill(options.passphrase)
  }
  if (options.receipt) await page.getByRole('switch', { name: 'Receipt' }).check()
  await press(page, 'Seal it')
}

/** Seals a text on the open page and returns its links. */
export async function seal(page: Page, text: string, options: SealOptions = {}): Promise<Links> {
  await order(page, text, options)
  const link = await page.getByLabel('Link to send').inputValue()
  await page.locator('summary', { hasText: 'Management link' }).click()
  const management = await page.getByRole('textbox', { name: 'Management link' }).inputValue()
  return { link, management }
}

/** Presses and holds the seal until it opens. */
export async function hold(page: Page) {
  await page.getByRole('button', { name: 'Press and hold to open' }).hover()
  await page.mouse.down()
  await page.clock.fastForward(HOLD_MS)
  await page.locator('.hold[data-state=holding]').waitFor({ state: 'detached' })
  await page.mouse.up()
}

/** Follows a link and opens its secret, if possible. */
export async function open(page: Page, link: string, passphrase?: string) {
  await page.goto(link)
  if (passphrase !== undefined) await passphraseField(page).fill(passphrase)
  await hold(page)
}

export function passphraseField(page: Page): Locator {
  return page.getByRole('textbox', { name: 'Passphrase' })
}

export async function press(page: Page, name: string) {
  await page.getByRole('button', { name, exact: true }).click()
}

/** The secret that is shown, once it is. */
export async function shownSecret(page: Page): Promise<string> {
  return page.getByLabel('The secret', { exact: true }).evaluate((shown) => shown.textContent ?? '')
}

/** Fails unless the page shows this title in time. */
export async function expectTitle(page: Page, name: string) {
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
}

/** Fails unless the page shows this text in time. */
export async function expectText(page: Page, text: string) {
  await page.getByText(text, { exact: true }).first().waitFor()
}
