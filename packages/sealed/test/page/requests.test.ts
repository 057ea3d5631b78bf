import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { createSealedApi } from '../../src/client/api.ts'
import { createRequest } from '../../src/client/create-request.ts'
import { fillRequest, sealFill } from '../../src/client/fill-request.ts'
import type { Content } from '../../src/crypto/content.ts'
import { formatLink, parseLink } from '../../src/crypto/link.ts'
import { texts } from '../../src/page/languages.ts'
import { requests } from '../crypto/vectors.ts'
import { describeInBrowser } from './browser.ts'
import { openInNode, sealInNode } from './node-client.ts'
import { startPageServer } from './page-server.ts'
import { expectText, expectTitle, hold, open, press, shownSecret } from './steps.ts'

const en = texts.en

interface RequestLinks {
  request: string
  own: string
  fingerprint: string
}

/** Makes a request on the open page. */
async function makeRequest(page: Page, words = en): Promise<RequestLinks> {
  await press(page, words['request.offer'])
  await expectTitle(page, words['request.title'])
  await press(page, words['request.submit'])
  await expectTitle(page, words['requested.title'])
  return {
    request: await page.getByLabel(words['sealed.link']).inputValue(),
    own: await page.getByLabel(words['requested.own']).inputValue(),
    fingerprint: await fingerprintOf(page),
  }
}

async function fingerprintOf(page: Page): Promise<string> {
  const shown = page.locator('.fingerprint', { hasText: /\w/ })
  await shown.waitFor()
  return shown.innerText()
}

async function requestInNode(base: string): Promise<RequestLinks> {
  const made = await createRequest(createSealedApi({ base }), { seconds: 7 * 86_400 })
  const [request, own] = [formatLink(base, made.request), formatLink(base, made.own)]
  return { request, own, fingerprint: made.fingerprint }
}

async function fillInNode(link: string, content: Content) {
  const request = parseLink(link)
  if (request.kind !== 'request') throw new Error('Not a request link')
  return fillRequest(createSealedApi({ base: request.base }), await sealFill({ request, content }))
}

/** Follows a request link and sends a text. */
async function send(page: Page, link: string, text: string, words = en) {
  await page.goto('about:blank')
  await page.goto(link)
  await expectTitle(page, words['fill.title'])
  await page.getByLabel(words['create.secret']).fill(text)
  await press(page, words['fill.submit'])
}

describeInBrowser('requests on the page', (site) => {
  test.each(Object.entries(texts))(
    'one person asks in %s, another fills it in, and only the first opens it, once',
    async (language, words) => {
      const requester = await site.visitor({ locale: language })
      await requester.goto(site.base)
      const { request, own, fingerprint } = await makeRequest(requester, words)
      const sender = await site.visitor({ locale: language })
      await send(sender, request, 'what was asked for', words)
      await expectTitle(sender, words['filled.title'])
      await requester.goto('about:blank')
      await requester.goto(own)
      await expectTitle(requester, words['own.title'])
      await press(requester, words['open.steps'])
      await requester.clock.fastForward(600)
      await press(requester, words['open.confirm'])
      await expectTitle(requester, words['shown.title'])
      const shown = requester.getByLabel(words['shown.secret'], { exact: true })
      expect(await shown.innerText()).toBe('what was asked for')
      expect(fingerprint).toMatch(/^(?:[0-9a-f]{4} ?){5}$/)
      await expect(openInNode(own)).rejects.toMatchObject({ code: 'not_available' })
    },
  )

  test.each([
    ['15', '15 minutes'],
    ['4320', '3 days'],
  ])("stay within the operator's maximum of %s minutes", async (minutes, longest) => {
    const limited = await startPageServer({ env: { SEALED_MAX_EXPIRY_MINUTES: minutes } })
    onTestFinished(() => limited.close())
    const page = await site.visitor()
    await page.goto(limited.base)
    await press(page, en['request.offer'])
    const lifetimes = page.getByRole('radio')
    expect(await lifetimes.last().evaluate((input) => input.parentElement?.textContent)).toBe(
      longest,
    )
    await press(page, en['request.submit'])
    await expectTitle(page, en['requested.title'])
    const request = await page.getByLabel(en['sealed.link']).inputValue()
    const own = await page.getByLabel(en['requested.own']).inputValue()
    const sender = await site.visitor()
    await send(sender, request, 'what was asked for')
    await expectTitle(sender, en['filled.title'])
    expect(await openInNode(own)).toBe('what was asked for')
  })

  test('the sender sees the fingerprint of the requester, and no request is sent before the button', async () => {
    const { request, fingerprint } = await requestInNode(site.base)
    const before = site.requests.length
    const sender = await site.visitor()
    await sender.goto(request)
    expect(await fingerprintOf(sender)).toBe(fingerprint)
    expect(site.requests.slice(before).filter((each) => each.includes('/v1/'))).toEqual([])
    expect(sender.url()).toBe(site.base)
    await expectText(sender, en['fill.lede'])
  })

  test('a file goes from the page to the CLI and from the CLI to the page through a request', async () => {
    const file = { name: 'server.p12', mediaType: '', bytes: Uint8Array.of(0, 255, 10) }
    const toNode = await requestInNode(site.base)
    const sender = await site.visitor()
    await sender.goto(toNode.request)
    await sender.locator('input[type=file]').setInputFiles({
      name: file.name,
      mimeType: '',
      buffer: Buffer.from(file.bytes),
    })
    await press(sender, 'Send it')
    await expectTitle(sender, 'Sent.')
    expect(await openInNode(toNode.own)).toMatchObject({ name: file.name, bytes: file.bytes })
    const requester = await site.visitor()
    await requester.goto(site.base)
    const toPage = await makeRequest(requester)
    await fillInNode(toPage.request, file)
    await requester.goto('about:blank')
    await open(requester, toPage.own)
    await expectText(requester, 'server.p12')
  })

  test('the own link can be tried again until the request is filled', async () => {
    const { request, own } = await requestInNode(site.base)
    const requester = await site.visitor()
    await open(requester, own)
    await expectText(requester, en['own.unavailable'])
    await fillInNode(request, 'later')
    await hold(requester)
    expect(await shownSecret(requester)).toBe('later')
  })

  test('a request that was used says so and keeps what was typed', async () => {
    const { request } = await requestInNode(site.base)
    await fillInNode(request, 'first')
    const sender = await site.visitor()
    await send(sender, request, 'second')
    await expectText(sender, en['fill.used'])
    expect(await sender.getByLabel('Your secret').inputValue()).toBe('second')
    sender.on('dialog', (dialog) => void dialog.accept())
  })

  test('the same link again keeps what was typed', async () => {
    const { request } = await requestInNode(site.base)
    const sender = await site.visitor()
    await sender.goto(request)
    await sender.getByLabel('Your secret').fill('typed')
    await sender.evaluate((link) => location.assign(link), request)
    await sender.waitForURL(site.base)
    expect(await sender.getByLabel('Your secret').inputValue()).toBe('typed')
    await press(sender, 'Send it')
    await expectTitle(sender, 'Sent.')
  })

  test('after a lost response, sending it again is not mistaken for theft', async () => {
    const { request, own } = await requestInNode(site.base)
    const sender = await site.visitor()
    await sender.route('**/v1/requests/*', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await send(sender, request, 'once')
    await expectText(sender, en['failed.retrying'])
    await sender.clock.runFor(5000)
    await expectText(sender, en['failed.offline'])
    await sender.unroute('**/v1/requests/*')
    await press(sender, 'Send it')
    await expectTitle(sender, 'Sent.')
    expect(await openInNode(own)).toBe('once')
  })

  test('a cancelled submission is not sent again, and the page says that it may have been sent', async () => {
    const { request, own } = await requestInNode(site.base)
    const sender = await site.visitor()
    let attempts = 0
    await sender.route('**/v1/requests/*', async (route) => {
      attempts++
      await route.abort()
    })
    await send(sender, request, 'regretted')
    await expectText(sender, en['failed.retrying'])
    await press(sender, en['sealing.cancel'])
    await expectText(sender, en['sealing.cancelledLate'])
    const before = attempts
    await sender.clock.fastForward(10_000)
    await sender.unroute('**/v1/requests/*')
    expect(attempts).toBe(before)
    await expect(openInNode(own)).rejects.toMatchObject({ code: 'not_available' })
    sender.on('dialog', (dialog) => void dialog.accept())
  })

  test('the sender can destroy what was sent', async () => {
    const { request, own } = await requestInNode(site.base)
    const sender = await site.visitor()
    await send(sender, request, 'regretted')
    await expectTitle(sender, 'Sent.')
    await press(sender, 'Destroy it now')
    await press(sender, 'Destroy')
    await expectTitle(sender, 'Destroyed.')
    await expect(openInNode(own)).rejects.toMatchObject({ code: 'not_available' })
  })

  test('an expired, an incomplete and a newer request each say what to do', async () => {
    const [vector] = requests
    const [, id = '', fragment = '', token = ''] = vector?.expected.request.split(':') ?? []
    const page = await site.visitor()
    const claims = Buffer.from(JSON.stringify({ jti: id, exp: 1 })).toString('base64url')
    await page.goto(`${site.base}#r:${id}:${fragment}:x.${claims}.x`)
    await expectText(page, en['fill.expired'])
    await page.goto(`${site.base}#r:${id}:${fragment}`)
    await expectText(page, en['damaged.text'])
    const newer = Buffer.from(fragment, 'base64url')
    newer[0] = 3
    await page.goto(`${site.base}#r:${id}:${newer.toString('base64url')}:${token}`)
    await expectText(page, en['damaged.newer'])
  })

  test('the vectors of requests open on the page', async () => {
    const page = await site.visitor()
    for (const { content, expected } of requests) {
      const asked: unknown[] = []
      await page.route('**/reveal', async (route) => {
        asked.push(route.request().postDataJSON())
        const answer = { salt: null, passphraseProtected: false, remainingViews: 0 }
        await route.fulfill({ json: { ...answer, ...expected.body, graceSeconds: 30 } })
      })
      await open(page, `${site.base}#${expected.own}`)
      await expectText(page, typeof content === 'string' ? content.trim() : (content?.name ?? ''))
      expect(asked).toMatchObject([{ link: expected.link, proof: expected.proof }])
    }
    page.on('dialog', (dialog) => void dialog.accept())
  })

  test('no request, log or URL contains the private key, the public key or the text', async () => {
    const requester = await site.visitor()
    await requester.goto(site.base)
    const { request, own } = await makeRequest(requester)
    const sender = await site.visitor()
    await send(sender, request, 'the text itself')
    await expectTitle(sender, 'Sent.')
    await requester.goto('about:blank')
    await open(requester, own)
    expect(await shownSecret(requester)).toBe('the text itself')
    const arrived = site.requests.join('\n')
    const secrets = [own.split(':').at(-1), request.split(':').at(-2), 'the text itself']
    expect(secrets.filter((each) => each !== undefined && arrived.includes(each))).toEqual([])
    const id = own.split('#')[1]?.slice(0, 22) ?? ''
    const token = request.split(':').at(-1) ?? ''
    const logged = site.lines.join('\n')
    expect([...secrets, id, token].filter((each) => logged.includes(each ?? ''))).toEqual([])
  })

  test('leaving warns until the own link was copied', async () => {
    const page = await site.visitor({ permissions: ['clipboard-write'] })
    await page.goto(site.base)
    await makeRequest(page)
    const warns = () =>
      page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
    await press(page, 'Copy link')
    expect(await warns()).toBe(true)
    await press(page, 'Copy my link')
    await expectText(page, 'Copied')
    expect(await warns()).toBe(false)
  })

  test('a request is made, filled and opened with the keyboard alone', async () => {
    const page = await site.visitor()
    await page.goto(site.base)
    const focus = async (name: string) => {
      for (let presses = 0; presses < 40; presses++) {
        await page.keyboard.press('Tab')
        const found = await page.evaluate(() => document.activeElement?.textContent)
        if (found === name) return
      }
      throw new Error(`Tab does not reach "${name}"`)
    }
    await focus('Ask someone for a secret')
    await page.keyboard.press('Enter')
    await focus('Create the request')
    await page.keyboard.press('Enter')
    await expectTitle(page, 'Request created.')
    const request = await page.getByLabel('Link to send').inputValue()
    const own = await page.getByLabel('Your own link').inputValue()
    page.on('dialog', (dialog) => void dialog.accept())
    await page.goto('about:blank')
    await page.goto(request)
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Tab')
    await page.keyboard.type('typed')
    await page.keyboard.press('Control+Enter')
    await expectTitle(page, 'Sent.')
    await page.goto('about:blank')
    await page.goto(own)
    await focus('Press and hold to open')
    await page.keyboard.down('Enter')
    expect(await shownSecret(page)).toBe('typed')
    await page.keyboard.up('Enter')
  })

  test.each(['off', 'api-token'])(
    'the choice is hidden and an open request cannot be filled where requests are %s',
    async (setting) => {
      const server = await startPageServer({ env: { SEALED_REQUESTS: setting } })
      onTestFinished(() => server.close())
      const page = await site.visitor()
      await page.goto(server.base)
      await expectTitle(page, en['create.title'])
      expect(await page.getByRole('button', { name: en['request.offer'] }).count()).toBe(0)
      const { request } = await requestInNode(site.base)
      await page.goto(request.replace(site.base, server.base))
      await expectText(page, en['fill.off'])
    },
  )

  test('a submission that ends while a secret is shown does not replace it', async () => {
    const { request, own } = await requestInNode(site.base)
    const { link } = await sealInNode(site.base, 'another')
    const page = await site.visitor()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/v1/requests/*', (route) => held.then(() => route.continue()))
    const sent = page.waitForRequest('**/v1/requests/*')
    await send(page, request, 'sent meanwhile')
    await sent
    await page.evaluate((next) => location.assign(next), link)
    await hold(page)
    expect(await shownSecret(page)).toBe('another')
    release()
    await page.getByRole('button', { name: 'Management link' }).waitFor()
    expect(await shownSecret(page)).toBe('another')
    await press(page, 'Hide')
    await press(page, 'Management link')
    await expectTitle(page, 'Sent.')
    expect(await page.getByLabel('Management link').inputValue()).toContain('#m:')
    expect(await openInNode(own)).toBe('sent meanwhile')
  })
})
