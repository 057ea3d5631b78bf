import { gunzipSync } from 'node:zlib'
import { createApp } from '@strongroom/kit/http/app'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { expect, test } from 'vitest'
import { pageRoutes } from '../../src/page/routes.tsx'

const app = createApp({ log: silentLog, metrics: createMetrics() })
const options = { defaultTtlSeconds: 3600, maxTtlSeconds: 7200, defaultViews: 1, maxViews: 2 }
app.route('/somewhere/', pageRoutes({ name: 'Sealed', options, requests: 'anyone' }))

async function page() {
  const answer = await app.request('/somewhere/')
  const html = await answer.text()
  const files = [...html.matchAll(/\s(?:href|src|data-worker)="([^"]*)"/g)]
    .map(([, address = '']) => address)
    .filter((address) => address !== './')
  return { answer, html, files }
}

test('the content security policy allows exactly what the page needs', async () => {
  const { headers } = (await page()).answer
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
      "worker-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; " +
      "require-trusted-types-for 'script'; trusted-types sealed-worker",
  )
})

test('the page is not cached, not indexed and sends no referrer', async () => {
  const { headers } = (await page()).answer
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-robots-tag')).toBe('noindex')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
})

test('the page has no inline script, style or handler and loads nothing from other origins', async () => {
  const { html, files } = await page()
  expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:|<script[^>]*>[^<]|https?:/i)
  expect(files).toHaveLength(4)
  for (const file of files) expect(file).toMatch(/^assets\/[a-z]+-[0-9a-f]{16}\.(?:js|css|svg)$/)
})

test('assets are immutable because their names contain a hash', async () => {
  for (const file of (await page()).files) {
    const answer = await app.request(`/somewhere/${file}`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  }
  expect((await app.request('/somewhere/assets/sealed-0.js')).status).toBe(404)
})

test('assets are compressed for clients that accept gzip', async () => {
  for (const file of (await page()).files) {
    const plain = await (await app.request(`/somewhere/${file}`)).text()
    const headers = { 'accept-encoding': 'br, gzip' }
    const answer = await app.request(`/somewhere/${file}`, { headers })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(gunzipSync(await answer.arrayBuffer()).toString()).toBe(plain)
    const refusing = { headers: { 'accept-encoding': 'br, gzip;q=0' } }
    const uncompressed = await app.request(`/somewhere/${file}`, refusing)
    expect(await uncompressed.text()).toBe(plain)
  }
})

test('scripts are small and never turn text into markup', async () => {
  for (const file of (await page()).files.filter((name) => name.endsWith('.js'))) {
    const script = await (await app.request(`/somewhere/${file}`)).text()
    expect(script.length).toBeLessThan(130_000)
    expect(script).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/)
  }
})
