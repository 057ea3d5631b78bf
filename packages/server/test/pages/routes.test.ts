import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { assets } from '../../src/pages/content.ts'
import { attributes, htmlOf, pagesApp, services } from './test-pages.ts'
import { richDocument } from './test-document.ts'

const app = pagesApp({ services }, richDocument)

describe('pages contain only markup', () => {
  test.each(['/', '/docs'])('%s has no inline script, style or handler', async (path) => {
    const html = await htmlOf(app.request(path))
    expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i)
    for (const [, attribute, content] of html.matchAll(/<script([^>]*)>([^<]*)<\/script>/g)) {
      expect(attribute).toMatch(/^ src="\/assets\/[a-z-]+[0-9a-f]{16}\.js" defer=""$/)
      expect(content).toBe('')
    }
  })

  test('their policies allow this server and nothing else', async () => {
    const rest =
      "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    const home = await app.request('/')
    expect(home.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'self'; img-src 'self'; ${rest}`,
    )
    const docs = await app.request('/docs')
    expect(docs.headers.get('content-security-policy')).toBe(
      `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; ${rest}`,
    )
  })

  test.each(['/', '/docs'])('every link of %s leads somewhere', async (path) => {
    const html = await htmlOf(app.request(path))
    const idsOfDocs = attributes(await htmlOf(app.request('/docs')), 'id')
    const others = ['/healthz', '/readyz', '/metrics', '/sealed/', '/console/']
    const broken: string[] = []
    for (const address of [...attributes(html, 'href'), ...attributes(html, 'src')]) {
      const [target = '', fragment] = address.split('#')
      const ids = target === '' ? attributes(html, 'id') : idsOfDocs
      if (fragment !== undefined && !ids.includes(fragment)) broken.push(address)
      const isOurs = target.startsWith('/') && !others.includes(target)
      if (isOurs && (await app.request(target)).status !== 200) broken.push(address)
    }
    expect(broken).toEqual([])
  })
})

describe('caching', () => {
  test('the home page is not cached, because it shows the current state', async () => {
    expect((await app.request('/')).headers.get('cache-control')).toBe('no-store')
  })

  test.each(['/docs', '/openapi.json'])(
    '%s is asked for again and not sent twice',
    async (path) => {
      const first = await app.request(path)
      const etag = first.headers.get('etag') ?? ''
      expect(first.headers.get('cache-control')).toBe('no-cache')
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const second = await app.request(path, { headers: { 'if-none-match': known } })
        expect(second.status).toBe(304)
        expect(await second.text()).toBe('')
        expect(second.headers.get('content-security-policy')).toContain("default-src 'none'")
      }
      const changed = await app.request(path, { headers: { 'if-none-match': '"other"' } })
      expect(changed.status).toBe(200)
    },
  )

  test.each(assets)('$path has its type, its lifetime and a tag', async (asset) => {
    const answer = await app.request(asset.path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe(asset.contentType)
    expect(answer.headers.get('cache-control')).toBe(
      asset.path.startsWith('/assets/')
        ? 'public, max-age=31536000, immutable'
        : 'public, max-age=86400',
    )
    expect(await answer.text()).toBe(asset.body)
    const etag = answer.headers.get('etag') ?? ''
    const again = await app.request(asset.path, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
  })

  test.each(['/docs', '/openapi.json', ...assets.map(({ path }) => path)])(
    '%s is sent compressed to who reads that, and not again',
    async (path) => {
      const plain = await (await app.request(path)).text()
      const asked = (encoding: string, known = '') =>
        app.request(path, { headers: { 'accept-encoding': encoding, 'if-none-match': known } })
      const answer = await asked('gzip, br')
      expect(answer.headers.get('content-encoding')).toBe('gzip')
      expect(answer.headers.get('vary')).toBe('accept-encoding')
      expect(gunzipSync(await answer.arrayBuffer()).toString()).toBe(plain)
      const again = await asked('gzip, br', answer.headers.get('etag') ?? '')
      expect([again.status, again.headers.get('content-encoding')]).toEqual([304, null])
      expect(again.headers.get('etag')).toBe(answer.headers.get('etag'))
      expect(await (await asked('gzip;q=0')).text()).toBe(plain)
    },
  )

  test('a file of another version is not found, and the response is not cached', async () => {
    const answer = await app.request('/assets/strongroom-0000000000000000.css')
    expect(answer.status).toBe(404)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(await answer.json()).toMatchObject({ error: { code: 'request.not_found' } })
  })

  test('favicon.ico redirects to the SVG', async () => {
    const answer = await app.request('/favicon.ico')
    expect(answer.status).toBe(301)
    expect(answer.headers.get('location')).toBe('/favicon.svg')
  })

  test('the reference is also found with a trailing slash', async () => {
    const answer = await app.request('/docs/')
    expect([answer.status, answer.headers.get('location')]).toEqual([301, '/docs'])
  })

  test('HEAD gets the headers of GET, and other methods are rejected', async () => {
    const head = await app.request('/docs', { method: 'HEAD' })
    expect(head.status).toBe(200)
    expect(await head.text()).toBe('')
    expect((await app.request('/docs', { method: 'POST' })).status).toBe(405)
  })
})

describe('the style sheet', () => {
  const css = assets.find(({ path }) => path.endsWith('.css'))?.body ?? ''

  test('loads nothing from other origins', () => {
    expect(css).not.toMatch(/url\(|@import|https?:/)
  })

  test('has a contrast of 4.5 to 1 for text and 3 to 1 for field borders, in light and dark', () => {
    const grounds = ['paper', 'raised', 'sunken']
    const texts = ['ink', 'soft', 'faint', 'accent', 'warn', 'danger']
    const pairs = [
      ...grounds.flatMap((ground) => texts.map((text) => [text, ground, 4.5] as const)),
      ['on-accent', 'accent', 4.5],
      ['on-accent', 'accent-strong', 4.5],
      ['accent', 'accent-wash', 4.5],
      ['ink', 'accent-wash', 4.5],
      ['faint', 'accent-wash', 4.5],
      ['danger', 'accent-wash', 4.5],
      ['warn', 'warn-wash', 4.5],
      ['field', 'raised', 3],
      ['field', 'paper', 3],
    ] as const
    const [light = '', dark = ''] = css.split('prefers-color-scheme: dark')
    for (const part of [light, dark]) {
      const colours = new Map(
        [...part.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name, hex]) => [name, hex]),
      )
      const weak = pairs.filter(
        ([text, ground, least]) =>
          !(contrast(colours.get(text) ?? '', colours.get(ground) ?? '') >= least),
      )
      expect(weak).toEqual([])
    }
  })
})

/** As WCAG 2.2 counts it. */
function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance(hex: string): number {
  const [red = Number.NaN, green = Number.NaN, blue = Number.NaN] = [1, 3, 5]
    .map((start) => Number.parseInt(hex.slice(start, start + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
