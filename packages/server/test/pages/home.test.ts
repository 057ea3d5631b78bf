import { describe, expect, test } from 'vitest'
import { attributes, htmlOf, pagesApp, services, textOf } from './test-pages.ts'

const home = (...given: Parameters<typeof pagesApp>) => htmlOf(pagesApp(...given).request('/'))

describe('the home page shows the services', () => {
  test('a server without services says so and shows its store', async () => {
    const text = textOf(await home())
    expect(text).toContain('No service is running')
    expect(text).toContain('Embedded engine ./data')
    expect(text).toContain('Keys Embedded KMS')
    expect(text).toContain('Ready')
    expect(text).toContain('2026-01-02, 03:04 UTC')
  })

  test('every service has a card with its link', async () => {
    const html = await home({ services })
    expect(html).not.toContain('No service is running')
    expect(html).toContain('<a class="card-link" href="/sealed/">Sealed</a>')
    expect(html).toContain('<a class="card-link" href="/docs#group-other">Other</a>')
    expect(textOf(html)).toContain('2 running')
  })

  test('a server whose store does not respond is shown as not ready', async () => {
    const text = textOf(await home({ ready: false }))
    expect(text).toContain('Not ready')
  })

  test('metrics on a port of their own are not linked', async () => {
    expect(attributes(await home(), 'href')).toContain('/metrics')
    expect(attributes(await home({ metricsPath: null }), 'href')).not.toContain('/metrics')
  })
})

describe('the home page is accessible', () => {
  test('it has one main landmark, named sections, ordered headings and hidden decoration', async () => {
    const html = await home({ services })
    expect(html).toMatch(/^<!doctype html><html lang="en">/i)
    expect(html.match(/<main /g)).toHaveLength(1)
    expect(html.match(/<h1>/g)).toHaveLength(1)
    const levels = [...html.matchAll(/<h([1-6])/g)].map(([, level]) => Number(level))
    for (const [index, level] of levels.entries()) {
      expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1)
    }
    const ids = attributes(html, 'id')
    for (const label of attributes(html, 'aria-labelledby')) expect(ids).toContain(label)
    for (const [svg] of html.matchAll(/<svg[^>]*>/g)) expect(svg).toContain('aria-hidden="true"')
    expect(html).not.toContain('<img')
  })

  test('the first focusable element skips to the content', async () => {
    const html = await home()
    expect(/<a [^>]*>/.exec(html)?.[0]).toBe('<a class="skip" href="#content">')
    expect(attributes(html, 'id')).toContain('content')
  })
})

describe('the home page escapes text', () => {
  const hostile = `"><script>alert(1)</script><img src=x onerror='alert(1)'>`

  test('markup in names is shown as text', async () => {
    const html = await home({
      version: hostile,
      publicUrl: hostile,
      store: { kind: 'endpoint', label: hostile, detail: hostile },
      kms: { label: hostile, detail: hostile },
      services: [{ name: hostile, title: hostile, summary: hostile, href: '/x' }],
    })
    expect(html).not.toContain('<script')
    expect(html).not.toContain('<img')
    expect(textOf(html)).toContain(hostile)
  })

  test('a javascript: URL does not become a link', async () => {
    for (const href of ['javascript:alert(1)', '//elsewhere.example', '/\\elsewhere', 'data:,x']) {
      const html = await home({ services: [{ name: 'x', title: 'X', summary: '', href }] })
      expect(attributes(html, 'href')).not.toContain(href)
    }
  })
})
