import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { guides } from '../../src/pages/guides/list.ts'
import { renderMarkdown } from '../../src/pages/guides/markdown.tsx'
import { attributes, htmlOf, pagesApp, textOf } from './test-pages.ts'

const app = pagesApp()

/** Not for people who use or run a server. */
const LEFT_OUT = new Set(['seed-coverage'])

describe('the guides', () => {
  test('are all manuals of docs/', () => {
    const files = readdirSync(new URL('../../../../docs', import.meta.url))
      .filter((name) => name.endsWith('.md'))
      .map((name) => name.slice(0, -3))
    expect(guides.map(({ name }) => name).toSorted()).toEqual(
      files.filter((name) => !LEFT_OUT.has(name)).toSorted(),
    )
  })

  test('are listed on a page of their own and on the home page', async () => {
    const index = attributes(await htmlOf(app.request('/docs/guides')), 'href')
    for (const { name } of guides) expect(index).toContain(`/docs/guides/${name}`)
    const home = attributes(await htmlOf(app.request('/')), 'href')
    expect(home).toContain('/docs/guides')
    expect(home).toContain('/docs/guides/operations')
  })

  test.each(guides)(
    '$name has one title, working links and images, and no raw Markdown',
    async ({ name }) => {
      const response = await app.request(`/docs/guides/${name}`)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
      const html = await htmlOf(response)
      expect(html.match(/<h1[ >]/g)).toHaveLength(1)
      expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:|<script/i)
      const ids = attributes(html, 'id')
      expect(new Set(ids).size).toBe(ids.length)
      const broken: string[] = []
      for (const address of [...attributes(html, 'href'), ...attributes(html, 'src')]) {
        const [target = '', fragment] = address.split('#')
        if (/^https?:|^\/(?:console\/|favicon)/.test(address)) continue
        const page = target === '' ? html : await htmlOf(app.request(target))
        if (target !== '' && (await app.request(target)).status !== 200) broken.push(address)
        if (fragment !== undefined && !attributes(page, 'id').includes(fragment))
          broken.push(address)
      }
      expect(broken).toEqual([])
      const text = textOf(html.replaceAll(/<(pre|code)[^>]*>.*?<\/\1>/gs, ''))
      expect(text).not.toMatch(/\]\(|\*\*|^#|\|---/m)
    },
  )

  test('unknown guides and images are not found', async () => {
    for (const path of [
      '/docs/guides/none',
      '/docs/guides/images/none.svg',
      '/docs/guides/images/__proto__',
    ]) {
      expect((await app.request(path)).status).toBe(404)
    }
  })

  test('are asked for again and not sent twice', async () => {
    const etag = (await app.request('/docs/guides/sealed')).headers.get('etag') ?? ''
    const again = await app.request('/docs/guides/sealed', { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
  })
})

describe('Markdown', () => {
  const options = {
    resolveLink: (address: string) => (address.startsWith('http') ? address : undefined),
    resolveImage: () => undefined,
  }
  const render = (text: string) => renderMarkdown(text, options).content.map(String).join('')

  test('markup in it is shown as text', () => {
    const html = render(
      'Hello <script>alert(1)</script> **<b>** `<i>`\n\n| <a> |\n| --- |\n| <u> |',
    )
    expect(html).not.toMatch(/<(?:script|b|i|a|u)>/)
    expect(html).toContain('&lt;script&gt;')
  })

  test('a link that leads nowhere stays text', () => {
    expect(render('[x](javascript:alert) and [y](https://example.com)')).toBe(
      '<p>x and <a href="https://example.com">y</a></p>',
    )
  })

  test('tables, lists, code and headings become elements', () => {
    const html = render(
      '## A `b`\n\n- one\n- two\n  - three\n\n1. first\n\n```sh\nls <x>\n```\n\n| a | b \\| c |\n| - | - |\n| `d` | e |',
    )
    for (const part of [
      '<h2 id="a-b">',
      '<ul><li>one</li><li>two<ul><li>three</li></ul></li></ul>',
      '<ol><li>first</li></ol>',
      'ls &lt;x&gt;',
      '<th scope="col">b | c</th>',
      '<td><code>d</code></td>',
    ]) {
      expect(html).toContain(part)
    }
  })
})
