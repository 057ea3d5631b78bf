import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeInBrowser, SLOW } from './browser.ts'
import { isAvailable, sealInNode } from './node-client.ts'
import {
  expectText,
  expectTitle,
  hold,
  open,
  passphraseField,
  press,
  seal,
  shownSecret,
} from './steps.ts'

describeInBrowser('accidents use no view and leave nothing behind', (site) => {
  test('a reload shows the secret again', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const reader = await site.visitor()
    await open(reader, link)
    expect(await shownSecret(reader)).toBe('once')
    await reader.reload()
    expect(await shownSecret(reader)).toBe('once')
  })

  test.runIf(SLOW)('a reload asks for the passphrase again and uses no other view', async () => {
    const { link } = await sealInNode(site.base, 'once', { passphrase: 'word' })
    const reader = await site.visitor()
    await open(reader, link, 'word')
    expect(await shownSecret(reader)).toBe('once')
    await reader.reload()
    await passphraseField(reader).fill('word')
    await hold(reader)
    expect(await shownSecret(reader)).toBe('once')
  })

  test('a reload asks for a typed key again, which is never stored, and uses no other view', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const [address = '', key = ''] = link.split(/:(?=[^:]*$)/)
    const reader = await site.visitor()
    const keyField = reader.getByLabel('Key', { exact: true })
    const stored = () =>
      JSON.stringify([
        Object.entries(sessionStorage),
        Object.entries(localStorage),
        history.state,
        document.cookie,
      ])
    await reader.goto(address)
    for (let visit = 0; visit < 3; visit++) {
      await keyField.fill(key)
      expect(await reader.evaluate(stored)).not.toContain(key)
      await hold(reader)
      expect(await shownSecret(reader)).toBe('once')
      const whileShown = await reader.evaluate(stored)
      expect(whileShown).toContain('sealed.link')
      expect(whileShown).not.toContain(key)
      // The link again, as from a mail, is the same reader.
      if (visit === 0) await reader.reload()
      else {
        await reader.goto('about:blank')
        await reader.goto(address)
      }
      expect(await keyField.inputValue()).toBe('')
      await expectText(
        reader,
        'Paste the key again, because this page does not store it. Opening the secret again now is not counted.',
      )
    }
    expect(await isAvailable(link)).toBe(false)
  })

  test('a typed key that comes too late after a reload opens nothing and uses no view', async () => {
    const { link } = await sealInNode(site.base, 'once', { views: 2 })
    const [address = '', key = ''] = link.split(/:(?=[^:]*$)/)
    const reader = await site.visitor()
    await reader.goto(address)
    await reader.getByLabel('Key', { exact: true }).fill(key)
    await hold(reader)
    expect(await shownSecret(reader)).toBe('once')
    await reader.reload()
    await reader.getByLabel('Key', { exact: true }).fill(key)
    await reader.clock.fastForward(31_000)
    await hold(reader)
    await expectTitle(reader, 'Hidden.')
    expect(await isAvailable(link)).toBe(true)
  })

  test.runIf(SLOW)('the request is repeated after a lost response', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const reader = await site.visitor()
    let lost = 0
    await reader.route('**/reveal', async (route) => {
      if (lost++ > 0) return route.continue()
      // The server has counted the view, but the response is lost.
      await route.fetch()
      return route.abort()
    })
    await open(reader, link)
    expect(await shownSecret(reader)).toBe('once')
    expect(lost).toBe(2)
  })

  test.runIf(SLOW)('leaving and coming back shows the secret again', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const reader = await site.visitor()
    await open(reader, link)
    expect(await shownSecret(reader)).toBe('once')
    await reader.goto('about:blank')
    await reader.goBack()
    expect(await shownSecret(reader)).toBe('once')
  })

  test.runIf(SLOW)('the same link again in the same tab is the same reader', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const reader = await site.visitor()
    await open(reader, link)
    expect(await shownSecret(reader)).toBe('once')
    await reader.goto('about:blank')
    await reader.goto(link)
    expect(await shownSecret(reader)).toBe('once')
  })

  test('only one of two tabs gets the secret', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const first = await site.visitor()
    const second = await first.context().newPage()
    await open(first, link)
    expect(await shownSecret(first)).toBe('once')
    await open(second, link)
    await expectTitle(second, 'Not available.')
  })

  test.runIf(SLOW)('another link in the same tab replaces the first', async () => {
    const [one, two] = [await sealInNode(site.base, 'one'), await sealInNode(site.base, 'two')]
    const reader = await site.visitor()
    await open(reader, one.link)
    expect(await shownSecret(reader)).toBe('one')
    // Only the part after the # changes, so that the page is not left.
    await reader.evaluate((link) => location.assign(link), two.link)
    await expectTitle(reader, 'Someone sent you a secret.')
    await reader.clock.fastForward(31_000)
    await reader.reload()
    await hold(reader)
    expect(await shownSecret(reader)).toBe('two')
  })

  test.runIf(SLOW)(
    'the result of a link does not replace the view of another that was opened since',
    async () => {
      const [one, two] = [await sealInNode(site.base, 'one'), await sealInNode(site.base, 'two')]
      expect(await isAvailable(one.link)).toBe(true)
      const reader = await site.visitor()
      let answer = () => {}
      const held = new Promise<void>((resolve) => {
        answer = resolve
      })
      await reader.route('**/reveal', (route) => held.then(() => route.continue()), { times: 1 })
      await open(reader, one.link)
      await expectText(reader, 'Opening…')
      await reader.evaluate((link) => location.assign(link), two.link)
      await expectTitle(reader, 'Someone sent you a secret.')
      const ended = reader.waitForResponse('**/reveal')
      answer()
      expect((await ended).status()).toBe(404)
      await hold(reader)
      expect(await shownSecret(reader)).toBe('two')
    },
  )

  test.runIf(SLOW)('releasing the hold does not click a button of the new view', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const reader = await site.visitor({ hasTouch: true })
    await reader.goto(link)
    const box = await reader.getByRole('button', { name: 'Press and hold to open' }).boundingBox()
    const finger = { x: (box?.x ?? 0) + 50, y: (box?.y ?? 0) + 50 }
    const session = await reader.context().newCDPSession(reader)
    await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [finger] })
    const hide = reader.getByRole('button', { name: 'Hide' })
    await hide.evaluate((button) => Object.assign(button.style, { position: 'fixed', inset: 0 }))
    await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    expect(await shownSecret(reader)).toBe('once')
    // Put down once more, it is meant.
    await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [finger] })
    await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    await expectTitle(reader, 'Hidden.')
  })

  test('a program that loads the page and clicks every button opens nothing', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const scanner = await site.visitor()
    await scanner.clock.install()
    await scanner.goto(link)
    await scanner.getByRole('button', { name: 'Press and hold to open' }).waitFor()
    // On a busy machine a click could take as long as a hold.
    await scanner.clock.pauseAt(Date.now() + 1_000)
    for (const button of await scanner.getByRole('button').all()) {
      await button.hover()
      await scanner.mouse.down()
      await scanner.clock.runFor(300)
      await scanner.mouse.up()
    }
    for (const button of await scanner.getByRole('button').all()) {
      await button.dispatchEvent('click')
    }
    await expectText(scanner, 'Hold a little longer, until the ring is full')
    expect(await isAvailable(link)).toBe(true)
  })

  const tabStorage = () => sessionStorage.getItem('sealed.link')

  test.runIf(SLOW)('hiding the secret removes text and key and acknowledges it', async () => {
    const { link } = await sealInNode(site.base, 'once', { views: 2 })
    const reader = await site.visitor()
    await open(reader, link)
    expect(await shownSecret(reader)).toBe('once')
    const acknowledged = reader.waitForResponse('**/ack')
    await press(reader, 'Hide')
    await expectTitle(reader, 'Hidden.')
    expect((await acknowledged).status()).toBe(204)
    expect(await reader.content()).not.toContain('once<')
    expect(await reader.evaluate(tabStorage)).toBe('{"kind":"hidden"}')
    await reader.reload()
    await expectTitle(reader, 'Hidden.')
  })

  test.runIf(SLOW)(
    'after 30 seconds the key is removed and only the page has the text',
    async () => {
      const { link } = await sealInNode(site.base, 'once')
      const reader = await site.visitor()
      await open(reader, link)
      await reader.getByText(/^You can reload this page for another \d+ seconds\.$/).waitFor()
      const acknowledged = reader.waitForResponse('**/ack')
      await reader.clock.fastForward(31_000)
      await acknowledged
      await expectText(reader, 'It is only on this page now. Save it before you leave.')
      expect(await shownSecret(reader)).toBe('once')
      expect(await reader.evaluate(tabStorage)).toBe('{"kind":"hidden"}')
      reader.on('dialog', (dialog) => void dialog.accept())
      await reader.reload()
      await expectTitle(reader, 'Hidden.')
    },
  )

  /** As browsers do with a page in the back/forward cache. */
  const turn = (reader: Page, type: 'pagehide' | 'pageshow') =>
    reader.evaluate((name) => {
      dispatchEvent(new PageTransitionEvent(name, { persisted: true }))
    }, type)

  test.runIf(SLOW)(
    'a page restored from the back/forward cache reads the secret again',
    async () => {
      const { link } = await sealInNode(site.base, 'once')
      const reader = await site.visitor()
      await open(reader, link)
      expect(await shownSecret(reader)).toBe('once')
      await turn(reader, 'pagehide')
      expect(await reader.content()).not.toContain('once<')
      // Its timers go on before it has been loaded again.
      await reader.clock.fastForward(2000)
      await turn(reader, 'pageshow')
      expect(await shownSecret(reader)).toBe('once')
    },
  )

  test.runIf(SLOW)('a page restored too late shows nothing and does not warn', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const reader = await site.visitor()
    await open(reader, link)
    expect(await shownSecret(reader)).toBe('once')
    let questions = 0
    reader.on('dialog', async (question) => {
      questions += 1
      await question.accept()
    })
    await turn(reader, 'pagehide')
    await reader.clock.fastForward(31_000)
    await turn(reader, 'pageshow')
    await expectTitle(reader, 'Hidden.')
    expect(questions).toBe(0)
  })

  test.runIf(SLOW)(
    'a clock that is set back neither uses a view nor keeps the key longer',
    async () => {
      const { link } = await sealInNode(site.base, 'once')
      const reader = await site.visitor()
      await open(reader, link)
      expect(await shownSecret(reader)).toBe('once')
      const now = await reader.evaluate(() => Date.now())
      await reader.clock.setSystemTime(now - 7_200_000)
      await reader.reload()
      await hold(reader)
      expect(await shownSecret(reader)).toBe('once')
      await reader.clock.setSystemTime(now - 14_400_000)
      await reader.clock.fastForward(31_000)
      await expectText(reader, 'It is only on this page now. Save it before you leave.')
      expect(await reader.evaluate(tabStorage)).toBe('{"kind":"hidden"}')
    },
  )

  test.runIf(SLOW)('a tab that is reopened later shows nothing', async () => {
    const { link } = await sealInNode(site.base, 'once', { views: 2 })
    const reader = await site.visitor()
    await open(reader, link)
    expect(await shownSecret(reader)).toBe('once')
    await reader.goto('about:blank')
    await reader.clock.fastForward(31_000)
    await reader.goBack()
    await expectTitle(reader, 'Hidden.')
  })

  test('without storage the page promises no reload and warns before it is left', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const reader = await site.visitor()
    await reader.addInitScript(() => {
      const refuse = () => {
        throw new DOMException('Forbidden', 'SecurityError')
      }
      for (const name of ['sessionStorage', 'localStorage'])
        Object.defineProperty(window, name, { get: refuse })
    })
    await open(reader, link)
    expect(await shownSecret(reader)).toBe('once')
    await expectText(reader, 'It is only on this page now. Save it before you leave.')
    const asked = reader.waitForEvent('dialog')
    const leaving = reader.reload()
    await (await asked).accept()
    await leaving
    await expectTitle(reader, 'Hand over a secret, once.')
  })

  test('if copying is blocked, the page says so and selects the text', async () => {
    const page = await site.visitor()
    await page.addInitScript(() => {
      navigator.clipboard.writeText = () => Promise.reject(new DOMException('x', 'NotAllowedError'))
    })
    await page.goto(site.base)
    const { link } = await seal(page, 'text')
    const selected = () => page.evaluate(() => String(getSelection()))
    const refusal = page.locator('.problem', {
      hasText: 'Your browser blocked copying. Select the text and copy it yourself.',
    })
    await press(page, 'Copy link')
    await refusal.waitFor()
    expect(await selected()).toBe(link)
    await page.goto(link)
    await hold(page)
    expect(await shownSecret(page)).toBe('text')
    await press(page, 'Copy')
    await refusal.waitFor()
    expect(await selected()).toBe('text')
  })

  test.runIf(SLOW)('leaving the page warns only while a text or a link would be lost', async () => {
    const asked: string[] = []
    const sender = await site.visitor({ permissions: ['clipboard-write'] })
    sender.on('dialog', (dialog) => {
      asked.push(dialog.type())
      void dialog.accept()
    })
    await sender.goto(site.base)
    await sender.reload()
    expect(asked).toEqual([])
    await sender.getByLabel('Your secret').pressSequentially('x')
    await sender.reload()
    expect(asked).toEqual(['beforeunload'])
    await seal(sender, 'text')
    await sender.reload()
    expect(asked).toEqual(['beforeunload', 'beforeunload'])
    await seal(sender, 'text')
    await press(sender, 'Copy link')
    await expectText(sender, 'Copied')
    await sender.reload()
    expect(asked).toHaveLength(2)
  })
})
