import { describe, expect, test } from 'vitest'
import { serveHttp } from './loopback-server.ts'
import { failure, inside, loopbackFetch, resolver } from './safe-fetch-client.ts'

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

/** A server that sends /from/<status> to `location`, and shows any other request. */
async function redirecting(location: (port: number) => string) {
  const seen: string[] = []
  const port: number = await serveHttp((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      const { method, url = '', headers } = request
      const shown = [headers.authorization, headers['x-signature'], headers['content-type']]
      seen.push([method, headers.host, url, body, ...shown].join(' ').trim())
      const status = /^\/from\/(\d+)/.exec(url)?.[1]
      if (status) response.writeHead(Number(status), { location: location(port) })
      response.end('the end')
    })
  })
  return { port, seen }
}

describe('A redirect', () => {
  test('is returned like any other response unless redirects are allowed', async () => {
    const { port, seen } = await redirecting(() => '/to')
    const response = await loopbackFetch()(`http://hook.example.com:${port}/from/302`)
    expect(response.status).toBe(302)
    expect(response.headers['location']).toBe('/to')
    expect(seen).toHaveLength(1)
  })

  test('is followed on the same host, relative and absolute', async () => {
    for (const location of [() => '/to', (port: number) => `http://hook.example.com:${port}/to`]) {
      const { port } = await redirecting(location)
      const url = `http://hook.example.com:${port}`
      const response = await loopbackFetch()(`${url}/from/301`, { maxRedirects: 3 })
      expect(response.status).toBe(200)
      expect(response.url).toBe(`${url}/to`)
      expect(text(response.body)).toBe('the end')
    }
  })

  test('is not followed more often than allowed', async () => {
    const { port, seen } = await redirecting(() => '/from/302')
    const request = loopbackFetch()(`http://hook.example.com:${port}/from/302`, { maxRedirects: 3 })
    expect((await failure(request)).reason).toBe('redirect')
    expect(seen).toHaveLength(4)
  })

  test('to another host is not followed unless that is allowed', async () => {
    const { port, seen } = await redirecting((self) => `http://other.example.com:${self}/to`)
    const safeFetch = loopbackFetch()
    const url = `http://hook.example.com:${port}/from/302`
    expect((await failure(safeFetch(url, { maxRedirects: 1 }))).reason).toBe('redirect')
    expect(seen).toHaveLength(1)
    const response = await safeFetch(url, { maxRedirects: 1, sameHostRedirects: false })
    expect(response.url).toBe(`http://other.example.com:${port}/to`)
  })

  test('carries credentials and signatures within an origin only', async () => {
    const headers = { authorization: 'Bearer 1', 'X-Signature': 's', 'content-type': 'text/plain' }
    const request = { maxRedirects: 1, sameHostRedirects: false, headers }
    const same = await redirecting(() => '/to')
    await loopbackFetch()(`http://hook.example.com:${same.port}/from/307`, request)
    expect(same.seen[1]).toContain('Bearer 1 s text/plain')
    const other = await redirecting((self) => `http://other.example.com:${self}/to`)
    await loopbackFetch()(`http://hook.example.com:${other.port}/from/307`, request)
    expect(other.seen[1]).not.toMatch(/Bearer|\bs\b/)
    expect(other.seen[1]).toContain('text/plain')
  })

  test.each([
    [301, 'GET hook.example.com:PORT /to'],
    [302, 'GET hook.example.com:PORT /to'],
    [303, 'GET hook.example.com:PORT /to'],
    [307, 'POST hook.example.com:PORT /to body   text/plain'],
    [308, 'POST hook.example.com:PORT /to body   text/plain'],
  ])('with status %i repeats a POST as browsers do', async (status, expected) => {
    const { port, seen } = await redirecting(() => '/to')
    await loopbackFetch()(`http://hook.example.com:${port}/from/${status}`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'body',
      maxRedirects: 1,
    })
    expect(seen[1]).toBe(expected.replace('PORT', String(port)))
  })

  test.each([
    ...inside
      .filter((address) => !address.endsWith('127.0.0.1'))
      .map((address) => (address.includes(':') ? `http://[${address}]/` : `http://${address}/`)),
    'http://2130706434/',
    'http://0x7f.2/',
    'http://0177.0.0.2/',
    '//169.254.169.254/latest/meta-data/',
    'http://localhost/',
    'http://app.localhost/',
    'http://printer.local/',
    'http://metadata.google.internal/',
    'http://metadata/',
    'http://inside.example.com/',
    'http://mixed.example.com/',
  ])('to %s is rejected as a blocked address', async (location) => {
    const { port, seen } = await redirecting(() => location)
    const names: Record<string, string[]> = {
      'inside.example.com': ['10.0.0.1'],
      'mixed.example.com': ['127.0.0.1', '10.0.0.1'],
    }
    const safeFetch = loopbackFetch({
      allowLocalNames: false,
      resolve: (name) => Promise.resolve(names[name] ?? ['127.0.0.1']),
    })
    const request = safeFetch(`http://hook.example.com:${port}/from/302`, {
      maxRedirects: 3,
      sameHostRedirects: false,
    })
    expect((await failure(request)).reason).toBe('blocked_address')
    expect(seen).toHaveLength(1)
  })

  test.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'http://user:password@hook.example.com/',
    'http://hook.example.com./',
    'http://hook.example.com:22/',
    'http://[fe80::1%25eth0]/',
    'http://[',
  ])('to %s is rejected as a redirect', async (location) => {
    const { port } = await redirecting(() => location)
    const request = loopbackFetch()(`http://hook.example.com:${port}/from/302`, {
      maxRedirects: 3,
      sameHostRedirects: false,
    })
    expect((await failure(request)).reason).toBe('redirect')
  })

  test('to the same host is resolved and checked again for a new connection', async () => {
    const { port, seen } = await redirecting(() => '/to')
    const safeFetch = loopbackFetch(resolver(['127.0.0.1'], ['10.0.0.1']))
    const request = safeFetch(`http://hook.example.com:${port}/from/302`, { maxRedirects: 1 })
    expect((await failure(request)).reason).toBe('blocked_address')
    expect(seen).toHaveLength(1)
  })
})
