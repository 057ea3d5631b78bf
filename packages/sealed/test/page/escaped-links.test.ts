import { randomHex, randomToken } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createSealedApi } from '../../src/client/api.ts'
import { createRequest } from '../../src/client/create-request.ts'
import { formatLink } from '../../src/crypto/link.ts'
import { texts } from '../../src/page/languages.ts'
import { openDb, startApp } from '../support/sealed-app.ts'
import { describeInBrowser, SLOW } from './browser.ts'
import { isAvailable, openInNode, sealInNode } from './node-client.ts'
import { expectText, expectTitle, hold, press, shownSecret } from './steps.ts'

const DAMAGED = 'This link was damaged on its way.'

describe.each(serviceStores().slice(0, 1))('a request for a link whose # was escaped', (store) => {
  const opened = openDb(store)
  const [id, key, token] = [randomToken(16), randomToken(34), randomHex(16)]
  const paths = [
    `/%23${id}:${key}`,
    `/%23${id}%3A${key}`,
    `/%2523${id}%253A${key}`,
    `/%252523${id}:${key}`,
    `/%23${id}:${key}?utm_source=mail`,
    `/%23m:${id}:${token}`,
    `/?utm_source=mail%23${id}:${key}`,
    '/%23',
  ]

  test('gets the page, which is not cached and contains nothing of it', async () => {
    const app = await startApp(opened.db)
    const page = await (await app.request('/')).text()
    for (const path of paths) {
      const answer = await app.request(path)
      expect([answer.status, answer.headers.get('cache-control')], path).toEqual([200, 'no-store'])
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(await answer.text(), path).toBe(page)
      expect(JSON.stringify([...answer.headers])).not.toContain(id)
    }
  })

  test('is in no log line and no metric, whatever its method, and runs no hot route', async () => {
    const app = await startApp(opened.db)
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      for (const path of paths) {
        await app.request(path, { method })
        // More than one segment is no link.
        await app.request(path.replace(':', '/'), { method })
        expect(app.findHotRoute(method, `/sealed${path}`)).toBeUndefined()
      }
    }
    const written = [...app.lines, await app.metrics.text()].join('\n')
    expect(app.lines.length).toBeGreaterThanOrEqual(paths.length * 12)
    for (const part of [id, key, token]) expect(written).not.toContain(part)
    expect(JSON.parse(app.lines[0] ?? '')).toMatchObject({
      route: '/sealed/:link{%(?:25)*23[^/]*}',
    })
  })

  test('is refused with other methods, as the page is', async () => {
    const app = await startApp(opened.db)
    const answer = await app.request(paths[0] ?? '', { method: 'POST' })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})

describeInBrowser('a link whose # was escaped', (site) => {
  const escape = (link: string, hash = '%23') => link.replace('#', hash)

  test('opens the page of a damaged link, which sends nothing more and leaves the address bar', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const [, id = '', key = ''] = /#([^:]+):(.+)$/.exec(link) ?? []
    const page = await site.visitor()
    const before = site.requests.length
    const logged = site.lines.length
    await page.goto(escape(link))
    await expectTitle(page, DAMAGED)
    await page.waitForLoadState('networkidle')
    const [first, ...others] = site.requests.slice(before)
    expect(first).toContain(key)
    expect(others.length).toBeGreaterThan(1)
    expect(others.filter((request) => request.includes(key) || request.includes(id))).toEqual([])
    expect(page.url()).toBe(`${site.base}%23`)
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    expect(site.lines.slice(logged).join('\n')).not.toMatch(new RegExp(`${id}|${key}`))
    expect(await isAvailable(link)).toBe(true)
  })

  test.each(SLOW ? ['%23', '%2523', '?ref=mail%23', '?%2523'] : ['%23', '?ref=mail%23'])(
    'opens from %s with the repaired link',
    async (hash) => {
      const { link } = await sealInNode(site.base, 'once')
      const page = await site.visitor()
      await page.goto(escape(link, hash).replace(/:(?=[^:]*$)/, '%3A'))
      await expectTitle(page, DAMAGED)
      await press(page, 'Continue with the repaired link')
      await expectTitle(page, 'Someone sent you a secret.')
      expect(page.url()).toBe(site.base)
      await hold(page)
      expect(await shownSecret(page)).toBe('once')
    },
  )

  test('that manages a secret leads to its receipt', async () => {
    const { link, management } = await sealInNode(site.base, 'x', { views: 5, receipt: true })
    for (let views = 0; views < 2; views++) await openInNode(link)
    const page = await site.visitor()
    await page.goto(escape(management))
    await press(page, 'Continue with the repaired link')
    await expectText(page, 'Opened 2 of 5 times, last on 1 January 2100 at 00:00')
  })

  test('says what it reveals: the own link of a request everything, the request link no key', async () => {
    const made = await createRequest(createSealedApi({ base: site.base }), { seconds: 86_400 })
    const page = await site.visitor()
    await page.goto(escape(formatLink(site.base, made.own)))
    await expectText(page, texts.en['escaped.own'])
    await page.goto(escape(formatLink(site.base, made.request)))
    await expectText(page, texts.en['escaped.request'])
    await press(page, 'Continue with the repaired link')
    await expectTitle(page, texts.en['fill.title'])
  })

  test('and is not complete either cannot be continued', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const page = await site.visitor()
    for (const broken of [escape(link).slice(0, -3), `${site.base}%23`, `${site.base}%23x`]) {
      await page.goto(broken)
      await expectTitle(page, 'This link is incomplete.')
      expect(await page.getByRole('button', { name: 'Continue with' }).count()).toBe(0)
    }
    await press(page, 'Seal your own secret')
    await expectTitle(page, 'Hand over a secret, once.')
  })

  test('is not seen in the query of a whole link', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const page = await site.visitor()
    await page.goto(link.replace('#', '?campaign=%231#'))
    await expectTitle(page, 'Someone sent you a secret.')
    await page.reload()
    await expectTitle(page, 'Someone sent you a secret.')
  })

  test('explains itself in every language and fits on a phone', async () => {
    const { link } = await sealInNode(site.base, 'once')
    for (const [language, words] of Object.entries(texts)) {
      const page = await site.visitor({ locale: language, viewport: { width: 360, height: 740 } })
      await page.goto(escape(link))
      await expectTitle(page, words['escaped.title'])
      await expectText(page, words['escaped.text'])
      const room = await page.evaluate(() => innerWidth - document.documentElement.scrollWidth)
      expect(room, language).toBeGreaterThanOrEqual(0)
    }
  })
})
