import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { texts } from '../../src/page/languages.ts'
import { describeInBrowser, SLOW } from './browser.ts'
import { sealInNode } from './node-client.ts'
import { expectText, expectTitle, open, press, seal, shownSecret } from './steps.ts'
import { tour } from './tour.ts'

/** All of them with SLOW=1: there are many views. German has the longest words. */
const colourSchemes = SLOW ? (['light', 'dark'] as const) : (['light'] as const)
const languages = SLOW ? Object.keys(texts) : ['de']

describeInBrowser('accessibility of the page', (site) => {
  test(`every view passes axe in ${colourSchemes.join(' and ')}, and fits on a phone in ${languages.join(', ')}`, async () => {
    const page = await site.visitor({ viewport: { width: 360, height: 740 } })
    const problems: string[] = []
    await tour(page, site, async (view) => {
      for (const colorScheme of colourSchemes) {
        await page.emulateMedia({ colorScheme })
        for (const found of await violations(page, colorScheme))
          problems.push(`${view}, ${colorScheme}: ${found}`)
      }
      for (const language of languages) {
        await page.locator('select.language').selectOption(language)
        const room = await page.evaluate(() => innerWidth - document.documentElement.scrollWidth)
        if (room < 0) problems.push(`${view} in ${language} is ${-room} pixels too wide`)
      }
      await page.locator('select.language').selectOption('en')
    })
    expect(problems).toEqual([])
  })

  test('a secret can be created, opened and copied with the keyboard alone', async () => {
    const page = await site.visitor({ permissions: ['clipboard-write'] })
    await page.goto(site.base)
    const tab = async (times: number) => {
      for (let presses = 0; presses < times; presses++) await page.keyboard.press('Tab')
    }
    // The name of the page, the language, the secret.
    await tab(3)
    await page.keyboard.type('typed')
    await page.keyboard.press('Control+Enter')
    await expectTitle(page, 'Sealed.')
    expect(await focused(page)).toBe('Sealed.')
    await tab(1)
    const link = await page.getByLabel('Link to send').inputValue()
    expect(await focused(page)).toBe(link)
    await tab(1)
    await page.keyboard.press('Enter')
    await expectText(page, 'Copied')

    await page.goto('about:blank')
    await page.goto(link)
    await tab(3)
    expect(await focused(page)).toBe('Press and hold to open')
    await page.keyboard.down('Enter')
    expect(await shownSecret(page)).toBe('typed')
    await page.keyboard.up('Enter')
    expect(await focused(page)).toBe('Here it is.')
    await tab(2)
    expect(await focused(page)).toBe('Copy')
    await page.keyboard.press('Space')
    await expectText(page, 'Copied')
  })

  test('a field no longer describes its error once it is corrected', async () => {
    const page = await site.visitor()
    await page.goto(site.base)
    const session = await page.context().newCDPSession(page)
    const described = async () => {
      const { root } = await session.send('DOM.getDocument')
      const { nodeId } = await session.send('DOM.querySelector', {
        nodeId: root.nodeId,
        selector: 'textarea',
      })
      const { nodes } = await session.send('Accessibility.getPartialAXTree', { nodeId })
      return nodes.map(({ description }) => String(description?.value ?? '')).join('')
    }
    await press(page, 'Seal it')
    expect(await described()).toBe('0 of 51,200 bytes Enter your secret first')
    await page.getByLabel('Your secret').fill('x')
    expect(await described()).toBe('1 of 51,200 bytes')
  })

  test.runIf(SLOW)('Enter can be held in the passphrase field', async () => {
    const { link } = await sealInNode(site.base, 'text', { passphrase: 'word' })
    const page = await site.visitor()
    await page.goto(link)
    await page.getByRole('textbox', { name: 'Passphrase' }).fill('word')
    await page.keyboard.press('Enter')
    await expectText(page, 'Hold a little longer, until the ring is full')
    await page.keyboard.down('Enter')
    expect(await shownSecret(page)).toBe('text')
    await page.keyboard.up('Enter')
  })

  test('a browser that reports an invalid language tag shows the page in its language', async () => {
    const page = await site.visitor()
    await page.addInitScript(() => {
      Object.defineProperty(navigator, 'languages', { value: ['de-DE@posix'] })
    })
    await page.goto(site.base)
    await page.getByRole('textbox').first().waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('de')
  })

  test('a secret can be opened in two steps with a confirmation instead of holding', async () => {
    const { link } = await sealInNode(site.base, 'text')
    const page = await site.visitor()
    await page.goto(link)
    await press(page, 'Open in two steps instead')
    expect(await focused(page)).toBe('Open the secret now?')
    await press(page, 'Not yet')
    await press(page, 'Open in two steps instead')
    await page.clock.fastForward(600)
    await press(page, 'Yes, open it')
    expect(await shownSecret(page)).toBe('text')
  })

  test.runIf(SLOW)('every copy button copies its own text', async () => {
    const page = await site.visitor({ permissions: ['clipboard-read', 'clipboard-write'] })
    await page.goto(site.base)
    const { link } = await seal(page, '  text\n\n')
    await press(page, 'Copy link')
    await press(page, 'Seal another')
    const field = page.getByLabel('Your secret')
    await field.press('Control+V')
    expect(await field.inputValue()).toBe(link)
    const reader = await page.context().newPage()
    await open(reader, link)
    await press(reader, 'Copy')
    await expectText(reader, 'Copied')
    await field.fill('')
    await field.press('Control+V')
    expect(await field.inputValue()).toBe('  text\n\n')
  })

  test.runIf(SLOW).each(Object.entries(texts))(
    'it speaks %s to those who do',
    async (language, words) => {
      const page = await site.visitor({ locale: language })
      await page.goto(site.base)
      await expectTitle(page, words['create.title'])
      expect(await page.locator('html').getAttribute('lang')).toBe(language)
    },
  )

  test.runIf(SLOW)('the language can be changed at any time and is remembered', async () => {
    const page = await site.visitor({ locale: 'pt-BR' })
    await page.goto(site.base)
    await page.getByLabel('Your secret').fill('kept')
    await page.getByLabel('Language').selectOption('Deutsch')
    await expectTitle(page, 'Ein Geheimnis übergeben, genau einmal.')
    expect(await page.getByLabel('Ihr Geheimnis').inputValue()).toBe('kept')
    expect(await page.title()).toBe('Ein Geheimnis übergeben, genau einmal · Sealed')
    page.on('dialog', (dialog) => void dialog.accept())
    await page.reload()
    await expectTitle(page, 'Ein Geheimnis übergeben, genau einmal.')
    expect(await page.locator('html').getAttribute('lang')).toBe('de')
  })

  test('selected controls are visible in forced colours mode', async () => {
    const page = await site.visitor({ forcedColors: 'active' })
    await page.goto(site.base)
    await page.getByRole('switch', { name: 'Receipt' }).check()
    const looks = (selector: string, part?: string) =>
      page.evaluate(
        ([which = '', pseudo]) => {
          const found = document.querySelector(which)
          return found && getComputedStyle(found, pseudo).backgroundColor
        },
        [selector, part],
      )
    expect(await looks('.chip :checked + span')).not.toBe(
      await looks('.chip :not(:checked) + span'),
    )
    for (const state of [':checked', ':not(:checked)']) {
      const knob = await looks(`.toggle input${state}`, '::before')
      expect(knob).not.toBe(await looks(`.toggle input${state}`))
    }
    expect(await looks('.toggle input:checked')).not.toBe(
      await looks('.toggle input:not(:checked)'),
    )
  })

  test('every control is at least 44 pixels high on a phone', async () => {
    const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
    const page = await site.visitor(phone)
    const small = () =>
      page.evaluate(() =>
        [...document.querySelectorAll('a, button, select, summary, .chip, .toggle')]
          .map((each) => ({ text: each.textContent, height: each.getBoundingClientRect().height }))
          .filter(({ height }) => height > 0 && height < 44),
      )
    await page.goto(site.base)
    expect(await small()).toEqual([])
    const { link } = await seal(page, 'text')
    expect(await small()).toEqual([])
    await page.goto(link)
    expect(await small()).toEqual([])
  })

  test('devices that are touched get no hint about keys, neither on the screen nor read out', async () => {
    const { link } = await sealInNode(site.base, 'text')
    const keys = (page: Page) => page.getByText('or hold the Enter key', { exact: true })
    const described = (page: Page) =>
      page.getByRole('button', { name: 'Press and hold to open' }).evaluate((hold) =>
        (hold.getAttribute('aria-describedby') ?? '')
          .split(' ')
          .map((id) => document.getElementById(id)?.textContent)
          .join(''),
      )
    const desk = await site.visitor()
    await desk.goto(link)
    expect(await keys(desk).isVisible()).toBe(true)
    expect(await described(desk)).toBe('or hold the Enter key')
    const phone = await site.visitor({
      viewport: { width: 360, height: 740 },
      isMobile: true,
      hasTouch: true,
    })
    await phone.goto(link)
    expect(await described(phone)).toBe('')
    expect(await keys(phone).count()).toBe(0)
    await phone.getByLabel('Language').selectOption('Deutsch')
    expect(await phone.locator('.hold-keys').textContent()).toBe('')
    expect(await phone.locator('.hold-keys').isVisible()).toBe(false)
    // Whatever its text.
    const display = (hint: Element) => getComputedStyle(hint).display
    expect(await phone.locator('.hold-keys').evaluate(display)).toBe('none')
  })

  test('a long secret is printed completely', async () => {
    const { link } = await sealInNode(site.base, 'line\n'.repeat(200))
    const page = await site.visitor()
    await open(page, link)
    await shownSecret(page)
    const unseen = () =>
      page.locator('.secret').evaluate((shown) => shown.scrollHeight - shown.clientHeight)
    expect(await unseen()).toBeGreaterThan(0)
    await page.emulateMedia({ media: 'print' })
    expect(await unseen()).toBe(0)
  })

  test('the page follows the preferred colour scheme and motion', async () => {
    const looks = async (page: Page) => {
      await page.goto(site.base)
      return page.evaluate(() => ({
        paper: getComputedStyle(document.documentElement).backgroundColor,
        moves: getComputedStyle(document.querySelector('.plate') ?? document.body).animationName,
      }))
    }
    const calm = await looks(await site.visitor({ colorScheme: 'light' }))
    const dark = { colorScheme: 'dark', reducedMotion: 'no-preference' } as const
    const lively = await looks(await site.visitor(dark))
    expect(calm).toEqual({ paper: 'rgb(251, 251, 249)', moves: 'none' })
    expect(lively).toEqual({ paper: 'rgb(13, 17, 16)', moves: 'arrive' })
  })
})

/** The text or value of the focused element. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement
    return element instanceof HTMLInputElement ? element.value : (element?.textContent ?? '')
  })
}

/** Violations that axe finds. Another colour scheme can only change contrasts. */
async function violations(page: Page, scheme: 'light' | 'dark'): Promise<string[]> {
  const isLoaded = await page.evaluate(() => 'axe' in globalThis)
  if (!isLoaded) await page.evaluate(axe.source)
  return page.evaluate(async (onlyContrast) => {
    const loaded = (globalThis as unknown as { axe: typeof axe }).axe
    const { violations: found } = await loaded.run({
      resultTypes: ['violations'],
      ...(onlyContrast && { runOnly: ['color-contrast'] }),
    })
    return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id} ${html}`))
  }, scheme === 'dark')
}
