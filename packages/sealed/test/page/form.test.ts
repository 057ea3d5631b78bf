import { encode } from 'uqr'
import { expect, test } from 'vitest'
import { describeInBrowser, SLOW } from './browser.ts'
import { openInNode } from './node-client.ts'
import { expectText, expectTitle, order, press, seal } from './steps.ts'

describeInBrowser('the form', (site) => {
  async function form() {
    const page = await site.visitor()
    await page.goto(site.base)
    return page
  }

  test('counts bytes instead of characters and accepts exactly the limit', async () => {
    const page = await form()
    const field = page.getByLabel('Your secret')
    await field.fill('€')
    await expectText(page, '3 of 51,200 bytes')
    await field.fill('x'.repeat(51_201))
    await expectText(page, '1 byte too long')
    await press(page, 'Seal it')
    expect(await field.evaluate((element) => element.matches(':focus'))).toBe(true)
    const text = `${'€'.repeat(17_066)}ab`
    const { link } = await seal(page, text)
    expect(await openInNode(link)).toBe(text)
  })

  test('shows what is missing next to the field and sends no request', async () => {
    const page = await form()
    const before = site.requests.length
    await press(page, 'Seal it')
    await expectText(page, 'Enter your secret first')
    await page.getByLabel('Your secret').fill('text')
    await page.getByRole('switch', { name: 'Passphrase' }).check()
    await press(page, 'Seal it')
    await expectText(page, 'Enter a passphrase or turn it off')
    await page.getByRole('radio', { name: 'Other…' }).check()
    await page.getByLabel('Duration').fill('91')
    await press(page, 'Seal it')
    await expectText(page, 'Choose between 15 minutes and 90 days')
    expect(site.requests.slice(before).filter((request) => request.includes('/v1/'))).toEqual([])
  })

  test.runIf(SLOW)('accepts any time between the limits', async () => {
    const page = await form()
    await page.getByRole('radio', { name: 'Other…' }).check()
    await page.getByLabel('Duration').fill('36')
    await page.getByLabel('Unit').selectOption({ label: 'hours' })
    await seal(page, 'text')
    await expectText(page, 'It can be opened once, until 2 January 2100 at 12:00.')
  })

  test.runIf(SLOW)('suggests a strong passphrase and warns about a short one', async () => {
    const page = await form()
    await page.getByRole('switch', { name: 'Passphrase' }).check()
    const field = page.getByRole('textbox', { name: 'Passphrase' })
    await field.fill('1234')
    await page.getByText('Short passphrases are easier to guess').waitFor()
    const suggested = new Set<string>()
    for (let tries = 0; tries < 3; tries++) {
      await press(page, 'Suggest one')
      suggested.add(await field.inputValue())
    }
    expect(suggested.size).toBe(3)
    for (const passphrase of suggested) expect(passphrase).toMatch(/^(?:[a-km-np-z2-9]{4}-?){4}$/)
  })

  test('the work can be cancelled without losing the form', async () => {
    const page = await form()
    const isHard = { now: true }
    await page.route('**/v1/token', async (route) => {
      const answer = await route.fetch()
      const issued = (await answer.json()) as { challenge: object }
      const challenge = { ...issued.challenge, difficulty: 60 }
      await route.fulfill({ json: isHard.now ? { ...issued, challenge } : issued })
    })
    await order(page, 'kept')
    await page.locator('progress[value]').waitFor()
    await press(page, 'Cancel')
    await expectText(page, 'Cancelled. Nothing was stored.')
    expect(await page.getByLabel('Your secret').inputValue()).toBe('kept')
    isHard.now = false
    await press(page, 'Seal it')
    await expectTitle(page, 'Sealed.')
  })

  test('every wait can be cancelled and leaves nothing on the server', async () => {
    const page = await form()
    // The server limits the rate for most of a minute.
    const busy = { status: 429, headers: { 'retry-after': '50' }, json: {} }
    await page.route('**/v1/token', (route) => route.fulfill(busy), { times: 1 })
    await order(page, 'kept')
    await page.getByText('Too many requests').waitFor()
    await press(page, 'Cancel')
    await expectText(page, 'Cancelled. Nothing was stored.')

    // The secret is on its way to the server.
    let arrive = () => {}
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve
    })
    const creating = page.waitForRequest('**/v1/secrets')
    await page.route('**/v1/secrets', (route) => arrived.then(() => route.continue()))
    await press(page, 'Seal it')
    await creating
    await press(page, 'Cancel')
    await page.getByRole('button', { name: 'Seal it' }).waitFor()
    const burnt = page.waitForResponse(
      (answer) => answer.request().method() === 'DELETE' && answer.status() === 204,
    )
    arrive()
    await burnt
    expect(await page.getByLabel('Your secret').inputValue()).toBe('kept')
  })

  test.runIf(SLOW)('a token that has expired can be requested again', async () => {
    const page = await form()
    const refusal = { error: { code: 'sealed.invalid_token', message: 'x' } }
    await page.route('**/v1/secrets', (route) => route.fulfill({ status: 401, json: refusal }), {
      times: 1,
    })
    await order(page, 'kept')
    await expectText(page, 'It took too long and nothing was stored. Try again.')
    await press(page, 'Seal it')
    await expectTitle(page, 'Sealed.')
  })

  test.runIf(SLOW)('a connection lost before the work starts loses nothing', async () => {
    const page = await form()
    await page.context().route('**/assets/work-*', (route) => route.abort(), { times: 1 })
    await order(page, 'kept')
    await expectText(page, 'The server did not respond. Check your connection and try again.')
    await press(page, 'Seal it')
    await expectTitle(page, 'Sealed.')
  })

  test.runIf(SLOW)('browsers without AbortSignal.any can create secrets', async () => {
    const page = await site.visitor()
    await page.addInitScript(() => Object.assign(AbortSignal, { any: undefined }))
    await page.goto(site.base)
    await order(page, 'text')
    await expectTitle(page, 'Sealed.')
  })

  test.runIf(SLOW)('a server that does not respond loses nothing', async () => {
    const page = await form()
    await page.route('**/v1/token', (route) => route.abort(), { times: 1 })
    await order(page, 'kept')
    await expectText(page, 'The server did not respond. Check your connection and try again.')
    await press(page, 'Seal it')
    await expectTitle(page, 'Sealed.')
  })

  test.runIf(SLOW)('the QR code contains the link', async () => {
    const page = await form()
    const { link } = await seal(page, 'text')
    await page.locator('summary', { hasText: 'QR code' }).click()
    const path = await page.getByLabel('QR code of the link').locator('path').getAttribute('d')
    const drawn = [...(path ?? '').matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)].flatMap(
      ([, x, y, length]) =>
        Array.from({ length: Number(length) }, (_, at) => `${Number(x) + at},${y}`),
    )
    const { data } = encode(link, { ecc: 'M', border: 3 })
    const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`${x},${y}`] : [])))
    expect(drawn).toEqual(dark)
  })
})
