import { expect, test } from 'vitest'
import { texts } from '../../src/page/languages.ts'
import { describeInBrowser, SLOW } from './browser.ts'
import { sealInNode } from './node-client.ts'
import { expectText, expectTitle, open, press, seal, shownSecret } from './steps.ts'

describeInBrowser('secrecy of the page', (site) => {
  test('no request, log or URL contains the key, the passphrase or the text', async () => {
    const page = await site.visitor()
    await page.goto(site.base)
    const { link, management } = await seal(page, 'the text itself', { passphrase: 'the phrase' })
    const tab = await page.context().newPage()
    await open(tab, link, 'the phrase')
    expect(await shownSecret(tab)).toBe('the text itself')
    await press(tab, 'Hide')
    await tab.goto(management)
    await expectTitle(tab, 'Your sealed secret.')

    const [, id = '', key = ''] = link.split(/[#:]/).slice(-3)
    const burnToken = management.split(':').at(-1) ?? ''
    const secrets = [key, 'the phrase', 'the text itself']
    const arrived = site.requests.join('\n')
    expect(secrets.filter((secret) => arrived.includes(secret))).toEqual([])
    expect(arrived.toLowerCase()).not.toContain('referer')
    const logged = site.lines.join('\n')
    expect([...secrets, id, burnToken].filter((each) => logged.includes(each))).toEqual([])

    const session = await page.context().newCDPSession(tab)
    const history = await session.send('Page.getNavigationHistory')
    expect(history.entries.map(({ url }) => url)).toEqual(['about:blank', site.base, site.base])
  })

  test('the link is stored only in the session storage of its tab', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const reader = await site.visitor()
    await reader.goto(link)
    const other = await reader.context().newPage()
    await other.goto(site.base)
    const stored = () => [sessionStorage.length, localStorage.length, document.cookie]
    expect(await reader.evaluate(stored)).toEqual([1, 0, ''])
    expect(await other.evaluate(stored)).toEqual([0, 0, ''])
  })

  test.runIf(SLOW)('characters that a mail program adds to a link are ignored', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const reader = await site.visitor()
    const [base, target = ''] = link.split('#')
    await open(reader, `${base}#${target.replace(':', '%3A')}>.`)
    expect(await shownSecret(reader)).toBe('once')
  })

  test('text never becomes markup, and the policy blocks and reports attempts', async () => {
    const { link } = await sealInNode(site.base, '<img src=x onerror=alert(1)><b>bold</b>')
    const reader = await site.visitor()
    await open(reader, link)
    expect(await shownSecret(reader)).toBe('<img src=x onerror=alert(1)><b>bold</b>')
    expect(await reader.locator('pre *').count()).toBe(0)
    const refusal = await reader.evaluate(() => {
      try {
        document.body.innerHTML = '<b>markup</b>'
        return 'allowed'
      } catch (error) {
        return String(error)
      }
    })
    expect(refusal).toContain('TrustedHTML')
    await expect.poll(() => site.complaints.length).toBe(2)
    expect(site.complaints.splice(0).join()).toContain('require-trusted-types-for')
  })

  test.runIf(SLOW)(
    'without JavaScript the page explains in every language what to do',
    async () => {
      const page = await site.visitor({ javaScriptEnabled: false })
      await page.goto(`${site.base}#${'A'.repeat(22)}`)
      const shown = await page.locator('main').innerText()
      for (const { noscript } of Object.values(texts)) expect(shown).toContain(noscript)
    },
  )

  test.runIf(SLOW)('on an insecure connection the page only shows a message', async () => {
    const page = await site.visitor()
    await page.goto(site.base.replace('127.0.0.1', 'insecure.test'))
    await expectTitle(page, 'This connection is not secure.')
    expect(await page.getByRole('button').count()).toBe(0)
    // The browser reports that it ignores headers for secure connections.
    site.complaints.splice(0)
  })

  test.runIf(SLOW)('an incomplete link shows another message than a missing secret', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const reader = await site.visitor()
    await reader.goto(link.slice(0, -3))
    await expectTitle(reader, 'This link is incomplete.')
    await reader.goto(`${site.base}#${'A'.repeat(22)}:AwAA`)
    await expectText(
      reader,
      'This link was created by a newer version of this page. Reload the page, then open the link again.',
    )
  })

  test.runIf(SLOW)('a ciphertext that was changed is not shown', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const reader = await site.visitor()
    await reader.route('**/reveal', async (route) => {
      const answer = await route.fetch()
      const revealed = (await answer.json()) as object
      await route.fulfill({ json: { ...revealed, iv: 'AAAAAAAAAAAAAAAA' } })
    })
    await open(reader, link)
    await reader.getByText('was changed and cannot be opened').first().waitFor()
    expect(await reader.locator('pre').count()).toBe(0)
  })
})
