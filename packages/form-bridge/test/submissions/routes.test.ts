import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { destinationPolicy } from '../../src/settings.ts'
import { MAX_FILES_BYTES } from '../../src/submissions/files.ts'
import { MAX_FIELDS_BYTES, MAX_SUBMISSION_DEPTH } from '../../src/submissions/service.ts'
import {
  type ConnectedSite,
  newSubmission,
  createTestService,
  signatureHeaders,
} from '../support/test-service.ts'
import { end } from '../support/wordpress-host.ts'

interface Received {
  headers: Record<string, string | string[] | undefined>
  body: string
}

describe.each(serviceStores())('a form submission on $name', (store) => {
  const service = createTestService(store)
  const secret = `whsec_${Buffer.from('a secret of at least 24 bytes').toString('base64')}`

  /** A destination that responds with the given statuses, then with 200. */
  function destination(...statuses: number[]) {
    const received: Received[] = []
    const place = service.host.site()
    place.handlers.set('/hook', (request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += chunk))
      request.on('end', () => {
        received.push({ headers: request.headers, body })
        end(response, statuses.shift() ?? 200, '')
      })
    })
    return { url: `${place.url}hook`, received }
  }
  const setDestination = ({ site_id }: ConnectedSite, body: object) =>
    service.call('PUT', `/sites/${site_id}/destination`, { token: service.operator, body })

  test('is delivered with its site and its own id, signed according to Standard Webhooks', async () => {
    const { url, received } = destination()
    const site = await service.connected()
    expect((await setDestination(site, { url, secret })).body.has_destination).toBe(true)
    const submission = newSubmission()
    const response = await service.signed(site, 'POST', '/webhook', submission)
    const { submission_id } = submission
    expect(response).toMatchObject({ status: 200, body: { submission_id, status: 'delivered' } })
    const [{ headers, body }] = received as [Received]
    expect(JSON.parse(body)).toMatchObject({
      type: 'form.submission',
      site_id: site.site_id,
      domain: site.domain,
      ...submission,
    })
    const id = `${site.site_id}.${submission_id}`
    expect(headers['webhook-id']).toBe(id)
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    const text = `${id}.${String(headers['webhook-timestamp'])}.${body}`
    const mac = createHmac('sha256', key).update(text).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${mac}`)
  })

  test('accepts the form and page names up to the length at which the plugin truncates them', async () => {
    const { url, received } = destination()
    const site = await service.connected()
    await setDestination(site, { url })
    const longest = {
      form_id: '😀'.repeat(200),
      form_name: '😀'.repeat(500),
      page_url: '😀'.repeat(2000),
    }
    const send = (changes: object) =>
      service.signed(site, 'POST', '/webhook', { ...newSubmission(), ...longest, ...changes })
    expect((await send({})).status).toBe(200)
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject(longest)
    for (const [name, text] of Object.entries(longest)) {
      expect((await send({ [name]: `${text}.` })).code, name).toBe('request.invalid')
    }
  })

  test('is accepted only when the destination has accepted it, and a retry has the same id', async () => {
    const { url, received } = destination(500, 301, 200)
    const site = await service.connected()
    await setDestination(site, { url })
    const submission = newSubmission()
    const send = () => service.signed(site, 'POST', '/webhook', submission)
    for (const destination_status of [500, 301]) {
      const response = await send()
      expect(response).toMatchObject({ status: 502, code: 'form-bridge.destination_refused' })
      expect(response.body.error.data).toEqual({ destination_status })
      expect(response.headers.get('retry-after')).toBe('60')
    }
    expect((await send()).status).toBe(200)
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })

  test('stays with the site while the destination cannot be reached', async () => {
    const site = await service.connected()
    await setDestination(site, { url: 'http://127.0.0.1:1024/' })
    const response = await service.signed(site, 'POST', '/webhook', newSubmission())
    expect(response).toMatchObject({ status: 503, code: 'form-bridge.destination_unreachable' })
  })

  test('times out at the server before it times out in the plugin', () => {
    const plugin = new URL('../../../../plugins/wordpress/form-bridge/src/', import.meta.url)
    const client = readFileSync(new URL('Client.php', plugin), 'utf8')
    const [, seconds] = /const TIMEOUT = (\d+);/.exec(client) ?? []
    const { timeoutMs } = destinationPolicy({ FORM_BRIDGE_DESTINATION_NETWORKS: [] })
    expect(timeoutMs).toBeLessThan(Number(seconds) * 1000)
  })

  test('goes to the default destination unless the site has its own', async () => {
    const [general, own] = [destination(), destination()]
    const call = await service.another({ FORM_BRIDGE_DESTINATION: general.url })
    const site = await service.connected()
    const send = () => service.signed(site, 'POST', '/webhook', newSubmission(), {}, call)
    expect((await send()).status).toBe(200)
    const path = `/sites/${site.site_id}`
    const shown = await call('GET', path, { token: service.operator })
    expect(shown.body).toMatchObject({ has_destination: false, has_default_destination: true })
    await setDestination(site, { url: own.url })
    expect((await send()).status).toBe(200)
    await service.call('DELETE', `/sites/${site.site_id}/destination`, { token: service.operator })
    expect((await send()).status).toBe(200)
    expect([general.received.length, own.received.length]).toEqual([2, 1])
  })

  test('is refused while no destination is set, and the site says so', async () => {
    const site = await service.connected()
    const shown = await service.call('GET', `/sites/${site.site_id}`, { token: service.operator })
    expect(shown.body).toMatchObject({ has_destination: false, has_default_destination: false })
    const response = await service.signed(site, 'POST', '/webhook', newSubmission())
    expect(response).toMatchObject({ status: 409, code: 'form-bridge.no_destination' })
  })

  test.each([
    ['an address inside', { url: 'https://10.0.0.1/' }, 'body.url'],
    ['no address', { url: 'nowhere' }, 'body.url'],
    ['a secret that is none', { url: 'https://hooks.example.org/', secret: 'abc' }, 'body.secret'],
  ])('is not sent to %s', async (_, given, path) => {
    const site = await service.connected()
    const response = await setDestination(site, given)
    expect(response).toMatchObject({ status: 400, code: 'form-bridge.destination_invalid' })
    expect(response.body.error.details[0].path).toBe(path)
  })

  test('has an encrypted destination, which no response and no item shows in plain text', async () => {
    const { url } = destination()
    const site = await service.connected()
    const response = await setDestination(site, { url, secret })
    expect(JSON.stringify(response.body)).not.toContain('hook')
    const stored = JSON.stringify(await service.stores.authentication.findSiteById(site.site_id))
    expect(stored).not.toContain(url)
    expect(stored).not.toContain(secret)
  })

  describe('with nested fields', () => {
    /** `fields` is the first level, so this many lists are inside it. */
    const submit = async (lists: number) => {
      const { url, received } = destination()
      const site = await service.connected()
      await setDestination(site, { url })
      const fields = `{"nested":${'['.repeat(lists)}${']'.repeat(lists)}}`
      const sent = Buffer.from(
        JSON.stringify({ ...newSubmission(), fields: 'HERE' }).replace('"HERE"', fields),
      )
      const timestamp = Math.floor(service.clock.now() / 1000)
      const headers = signatureHeaders(site, 'POST', '/webhook', sent, { timestamp })
      return {
        response: await service.call('POST', '/webhook', { headers, bytes: sent }),
        received,
      }
    }

    test('is delivered up to the depth limit', async () => {
      const { response, received } = await submit(MAX_SUBMISSION_DEPTH - 1)
      expect(response.status).toBe(200)
      expect(received).toHaveLength(1)
    })

    test.each([MAX_SUBMISSION_DEPTH, 5_000, 400_000])(
      'is rejected if %i lists are nested, and not treated as an outage',
      async (lists) => {
        const { response, received } = await submit(lists)
        expect(response).toMatchObject({ status: 400, code: 'request.invalid' })
        expect(response.body.error.details).toEqual([
          { path: 'body.fields', message: 'Must not nest more than 100 levels deep' },
        ])
        expect(received).toEqual([])
      },
    )
  })

  describe('with uploaded files', () => {
    const file = (bytes: number, changes: object = {}) => ({
      field: 'CV',
      name: 'cv.pdf',
      type: 'application/pdf',
      size: bytes,
      content: Buffer.alloc(bytes, 7).toString('base64'),
      ...changes,
    })
    const submit = async (given: object) => {
      const { url, received } = destination()
      const site = await service.connected()
      await setDestination(site, { url })
      const submission = { ...newSubmission(), ...given }
      return { response: await service.signed(site, 'POST', '/webhook', submission), received }
    }

    test('is delivered with them up to the limit, and with the names of those left out', async () => {
      const { content: _, ...named } = file(9_000_000, { omitted: 'too_large' })
      const files = [file(MAX_FILES_BYTES - 1), file(1), named]
      const { response, received } = await submit({ files })
      expect(response.status).toBe(200)
      expect(JSON.parse(received[0]?.body ?? '').files).toEqual(files)
    })

    test.each([
      ['that are larger together than the limit', [file(MAX_FILES_BYTES), file(1)]],
      ['with more contents than the limit', Array.from({ length: 11 }, () => file(1))],
      ['with more names than the limit', Array.from({ length: 21 }, () => file(1))],
      ['with another size than declared', [file(2, { size: 1 })]],
      ['with a content that is not base64', [file(3, { content: 'AA-_' })]],
      ['with padding inside the content', [file(4, { content: 'AA==AAAA' })]],
      ['without content and reason', [file(1, { content: undefined })]],
      ['with content and reason', [file(1, { omitted: 'too_large' })]],
      ['with an unknown reason', [file(1, { content: undefined, omitted: 'because' })]],
      ['with a path as the name', [file(1, { name: '../cv.pdf' })]],
      ['with a control character in the name', [file(1, { name: 'cv\n.pdf' })]],
      ['with an unknown field', [file(1, { path: '/tmp/x' })]],
    ])('is rejected %s', async (_, files) => {
      const { response, received } = await submit({ files })
      expect(response).toMatchObject({ status: 400, code: 'request.invalid' })
      expect(response.body.error.details[0].path).toMatch(/^body\.files/)
      expect(received).toEqual([])
    })

    test.each([undefined, [file(1)]])(
      'is rejected if its fields alone are too large, with files %#',
      async (files) => {
        const fields = { text: 'x'.repeat(MAX_FIELDS_BYTES) }
        const { response, received } = await submit({ fields, files })
        expect(response).toMatchObject({ status: 413, code: 'request.too_large' })
        expect(response.body.error.data).toEqual({ maxBytes: MAX_FIELDS_BYTES })
        expect(received).toEqual([])
      },
    )
  })

  test.each([
    ['without an id', { submission_id: undefined }],
    ['with an id that is none', { submission_id: 'short' }],
    ['with a field that is not known', { extra: 1 }],
    ['without fields', { fields: undefined }],
  ])('%s is refused', async (_, given) => {
    const site = await service.connected()
    const response = await service.signed(site, 'POST', '/webhook', {
      ...newSubmission(),
      ...given,
    })
    expect(response).toMatchObject({ status: 400, code: 'request.invalid' })
  })
})
