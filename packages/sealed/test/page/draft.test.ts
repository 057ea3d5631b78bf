import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { createSealedApi } from '../../src/client/api.ts'
import { createRequest } from '../../src/client/create-request.ts'
import { formatLink } from '../../src/crypto/link.ts'
import { texts } from '../../src/page/languages.ts'
import { describeInBrowser, SLOW } from './browser.ts'
import { isAvailable, openInNode, sealInNode } from './node-client.ts'
import { expectText, expectTitle, hold, passphraseField, press, shownSecret } from './steps.ts'

const FORM = 'Hand over a secret, once.'
const OPEN = 'Someone sent you a secret.'

describeInBrowser('what is not sealed yet', (site) => {
  /** A form with a text, a passphrase and other options. */
  async function drafting() {
    const page = await site.visitor()
    await page.goto(site.base)
    await page.getByLabel('Your secret').fill('draft')
    await page.getByRole('radio', { name: '3', exact: true }).check()
    await page.getByRole('switch', { name: 'Passphrase' }).check()
    await passphraseField(page).fill('words')
    return page
  }

  /** In the same tab: only the part after the # changes. */
  const follow = (page: Page, link: string) =>
    page.evaluate((address) => location.assign(address), link)

  /** Drops a file on the background of the page. */
  const drop = (page: Page, fileName: string) =>
    page.evaluate((name) => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File(['content'], name))
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }))
    }, fileName)

  async function expectDraft(page: Page) {
    await expectTitle(page, FORM)
    expect(await page.getByLabel('Your secret').inputValue()).toBe('draft')
    expect(await passphraseField(page).inputValue()).toBe('words')
    expect(await page.getByRole('radio', { name: '3', exact: true }).isChecked()).toBe(true)
  }

  test('the name of the page warns before it leaves a secret or new links that are shown', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const page = await drafting()
    await follow(page, link)
    await hold(page)
    expect(await shownSecret(page)).toBe('once')
    const asked = page.waitForEvent('dialog')
    const click = page.getByRole('link', { name: 'Sealed' }).click({ noWaitAfter: true })
    const dialog = await asked
    expect(dialog.type()).toBe('beforeunload')
    await dialog.dismiss()
    await click
    expect(await shownSecret(page)).toBe('once')
    page.on('dialog', (next) => void next.accept())
  })

  test.each([
    ['the button for it', (page: Page) => press(page, 'Back to your draft')],
    ['Back', (page: Page) => page.goBack()],
    ['the name of the page', (page: Page) => page.getByRole('link', { name: 'Sealed' }).click()],
  ])('is still there after a link was opened in the same tab, with %s', async (_, goBack) => {
    const { link, management } = await sealInNode(site.base, 'once', { receipt: true })
    const page = await drafting()
    await follow(page, link)
    await expectTitle(page, OPEN)
    await goBack(page)
    await expectDraft(page)
    await follow(page, management)
    await expectText(page, 'Not opened yet')
    await goBack(page)
    await expectDraft(page)
    expect(await isAvailable(link)).toBe(true)
  })

  test('is still there after a secret was opened and hidden, and can be sealed', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const page = await drafting()
    await follow(page, link)
    await hold(page)
    expect(await shownSecret(page)).toBe('once')
    await press(page, 'Hide')
    await press(page, 'Seal your own secret')
    await expectDraft(page)
    await press(page, 'Seal it')
    await expectTitle(page, 'Sealed.')
    const created = await page.getByLabel('Link to send').inputValue()
    expect(await openInNode(created, 'words')).toBe('draft')
    await press(page, 'Seal another')
    await expectTitle(page, FORM)
    expect(await page.getByLabel('Your secret').inputValue()).toBe('')
  })

  test('can be a file, also one that is dropped after the form came back', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const page = await site.visitor()
    await page.goto(site.base)
    await drop(page, 'first.p12')
    await expectText(page, 'first.p12')
    await follow(page, link)
    await expectTitle(page, OPEN)
    await press(page, 'Back to your draft')
    await expectText(page, 'first.p12')
    await press(page, 'Remove')
    await page.getByLabel('Your secret').fill('draft')
    await follow(page, link)
    await expectTitle(page, OPEN)
    await press(page, 'Back to your draft')
    await drop(page, 'second.p12')
    await expectText(page, 'second.p12')
    await press(page, 'Seal it')
    await expectTitle(page, 'Sealed.')
    const created = await page.getByLabel('Link to send').inputValue()
    expect(await openInNode(created)).toMatchObject({ name: 'second.p12' })
  })

  test('is still there after somebody else’s request was opened in the same tab', async () => {
    const api = createSealedApi({ base: site.base })
    const { request } = await createRequest(api, { seconds: 7 * 86_400 })
    const page = await drafting()
    await follow(page, formatLink(site.base, request))
    await expectTitle(page, 'Someone asks you for a secret.')
    expect(await page.getByLabel('Your secret').inputValue()).toBe('')
    await press(page, 'Back to your draft')
    await expectDraft(page)
  })

  test('does not take the place of the links of a new request', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const page = await drafting()
    await follow(page, link)
    await press(page, 'Back to your draft')
    await press(page, 'Ask someone for a secret')
    await press(page, 'Create the request')
    await expectTitle(page, 'Request created.')
    await page.evaluate(() => dispatchEvent(new PopStateEvent('popstate')))
    await expectTitle(page, 'Request created.')
  })

  test('does not take the place of a secret that is shown', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const page = await drafting()
    await follow(page, link)
    await hold(page)
    expect(await shownSecret(page)).toBe('once')
    await page.goBack()
    expect(await shownSecret(page)).toBe('once')
  })

  test('is never stored, and leaving the page warns about it', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const page = await drafting()
    await follow(page, link)
    await expectTitle(page, OPEN)
    const stored = () =>
      JSON.stringify([
        Object.entries(sessionStorage),
        Object.entries(localStorage),
        history.state,
        document.cookie,
      ])
    const storage = await page.evaluate(stored)
    expect(storage).toContain('sealed.link')
    expect(storage).not.toMatch(/draft|words/)
    const asked = page.waitForEvent('dialog')
    const leaving = page.reload()
    const question = await asked
    expect(question.type()).toBe('beforeunload')
    await question.accept()
    await leaving
    await expectTitle(page, OPEN)
    expect(await page.getByRole('button', { name: 'Back to your draft' }).count()).toBe(0)
  })

  test('is not reloaded when the back/forward cache restores the form', async () => {
    const page = await drafting()
    let questions = 0
    page.on('dialog', (question) => {
      questions += 1
      void question.accept()
    })
    await page.evaluate(() => {
      dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
    })
    await expectDraft(page)
    expect(questions).toBe(0)
  })

  test('an empty form is neither kept nor mentioned', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const page = await site.visitor()
    await page.goto(site.base)
    await expectTitle(page, FORM)
    await follow(page, link)
    await expectTitle(page, OPEN)
    expect(await page.getByRole('button', { name: 'Back to your draft' }).count()).toBe(0)
  })

  test.each(SLOW ? Object.entries(texts) : Object.entries(texts).slice(1, 2))(
    'follows a change of the language to %s while it is out of sight',
    async (language, words) => {
      const { link } = await sealInNode(site.base, 'once')
      const page = await drafting()
      await follow(page, link)
      await expectTitle(page, OPEN)
      await page.locator('select.language').selectOption(language)
      await expectText(page, words['draft.kept'])
      await press(page, words['draft.back'])
      await expectTitle(page, words['create.title'])
      expect(await page.getByLabel(words['create.secret'], { exact: true }).inputValue()).toBe(
        'draft',
      )
      await page.getByRole('button', { name: words['create.submit'], exact: true }).waitFor()
    },
  )
})
