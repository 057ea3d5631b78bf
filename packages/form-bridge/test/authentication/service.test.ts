import { randomBytes } from 'node:crypto'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { concurrently, createTestService, signatureHeaders } from '../support/test-service.ts'

describe.each(serviceStores())('a signed request on $name', (store) => {
  const service = createTestService(store)
  const now = () => Math.floor(service.clock.now() / 1000)
  const unauthorized = { status: 401, code: 'form-bridge.unauthorized' }

  test('is accepted once, and a replay is rejected', async () => {
    const site = await service.connected()
    const nonce = randomBytes(16).toString('hex')
    expect((await service.signed(site, 'GET', '/site', undefined, { nonce })).status).toBe(200)
    const again = await service.signed(site, 'GET', '/site', undefined, { nonce })
    expect(again).toMatchObject({ status: 401, code: 'form-bridge.nonce_used' })
  })

  test('that is sent twenty times concurrently is accepted once', async () => {
    const site = await service.connected()
    const nonce = randomBytes(16).toString('hex')
    const responses = await concurrently(20, () =>
      service.signed(site, 'GET', '/site', undefined, { nonce }),
    )
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    const others = responses.filter(({ status }) => status !== 200)
    expect(new Set(others.map(({ code }) => code))).toEqual(new Set(['form-bridge.nonce_used']))
  })

  test('may use a nonce that another site has used', async () => {
    const nonce = randomBytes(16).toString('hex')
    for (const site of [await service.connected(), await service.connected()]) {
      expect((await service.signed(site, 'GET', '/site', undefined, { nonce })).status).toBe(200)
    }
  })

  test.each([-301, 301])(
    'that is %i seconds off is rejected with the time of the server',
    async (off) => {
      const site = await service.connected()
      const response = await service.signed(site, 'GET', '/site', undefined, {
        timestamp: now() + off,
      })
      expect(response).toMatchObject({ status: 401, code: 'form-bridge.timestamp_out_of_range' })
      expect(response.body.error.data).toEqual({ server_time: now() })
    },
  )

  test.each([-300, 300])(
    'that is %i seconds off is accepted, and its replay is rejected',
    async (off) => {
      const site = await service.connected()
      const signing = { timestamp: now() + off, nonce: randomBytes(16).toString('hex') }
      expect((await service.signed(site, 'GET', '/site', undefined, signing)).status).toBe(200)
      service.clock.advance({ seconds: off > 0 ? 600 : 0 })
      const again = await service.signed(site, 'GET', '/site', undefined, signing)
      expect(again.code).toBe('form-bridge.nonce_used')
    },
  )

  test('is rejected if any part of it was changed', async () => {
    const site = await service.connected()
    const body = Buffer.from(JSON.stringify({ grace_seconds: 0 }))
    const path = '/site/rotate'
    const sign = () => signatureHeaders(site, 'POST', path, body, { timestamp: now() })
    const other = Buffer.from(JSON.stringify({ grace_seconds: 1 }))
    const flipped = (text = '') => text.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    const responses = await Promise.all([
      service.call('POST', path, { headers: sign(), bytes: other }),
      service.call('POST', `${path}?a=1`, { headers: sign(), bytes: body }),
      service.call('POST', '/site/disconnect', { headers: sign(), bytes: body }),
      ...['x-fb-signature', 'x-fb-nonce', 'x-fb-timestamp'].map((name) => {
        const headers = sign()
        return service.call('POST', path, {
          headers: { ...headers, [name]: flipped(headers[name]) },
          bytes: body,
        })
      }),
    ])
    for (const response of responses) expect(response).toMatchObject(unauthorized)
    expect((await service.call('GET', '/site', { token: site.api_key })).status).toBe(200)
  })

  test('with the secret of another site gets the same error as an unknown site', async () => {
    const [site, other] = [await service.connected(), await service.connected()]
    const foreign = await service.signed(site, 'GET', '/site', undefined, {
      secret: other.webhook_secret,
    })
    const unknown = { ...site, site_id: 'site_0123456789abcdef' }
    const madeUp = await service.signed(unknown, 'GET', '/site')
    expect(foreign).toMatchObject(unauthorized)
    expect(madeUp.bytes).toEqual(foreign.bytes)
  })

  test('that was rejected is recorded with the site that it names', async () => {
    const site = await service.connected()
    await service.signed(site, 'GET', '/site', undefined, { secret: 'fb_whs_guess' })
    const { items } = await service.stores.securityEvents.listBySubject({ site_id: site.site_id })
    expect(items).toMatchObject([
      { event_type: 'auth_failure', domain: site.domain, details: { reason: 'unauthorized' } },
    ])
  })

  test('that was rejected does not use up a nonce', async () => {
    const site = await service.connected()
    const nonce = randomBytes(16).toString('hex')
    const forged = { nonce, secret: 'fb_whs_guess' }
    expect(await service.signed(site, 'GET', '/site', undefined, forged)).toMatchObject(
      unauthorized,
    )
    expect((await service.signed(site, 'GET', '/site', undefined, { nonce })).status).toBe(200)
  })

  test.each([
    ['x-fb-nonce', 'ABCDEF0123456789ABCDEF0123456789'],
    ['x-fb-nonce', '0#1'],
    ['x-fb-timestamp', '1e9'],
    ['x-fb-site', 'site_'],
    ['x-fb-signature', 'v2=00'],
  ])('with a malformed %s is rejected', async (name, value) => {
    const site = await service.connected()
    const headers = signatureHeaders(site, 'GET', '/site', Buffer.alloc(0), { timestamp: now() })
    const response = await service.call('GET', '/site', { headers: { ...headers, [name]: value } })
    expect(response).toMatchObject(unauthorized)
  })

  test('is required for every change, because an API key is not enough', async () => {
    const { api_key: token } = await service.connected()
    for (const path of ['/site/rotate', '/site/disconnect', '/site/heartbeat', '/webhook']) {
      const response = await service.call('POST', path, { token, body: {} })
      expect(response).toMatchObject({ status: 403, code: 'form-bridge.signature_required' })
    }
  })

  test('covers the bytes of the body: slashes, non-Latin text, a whole megabyte', async () => {
    const site = await service.connected()
    const texts = ['a/b\\/c', 'Zoë 🚀 日本語 \u2028', 'x'.repeat(1_040_000)]
    for (const text of texts) {
      const body = {
        submission_id: randomBytes(16).toString('hex'),
        form_id: 'contact',
        submitted_at: '2100-01-01T00:00:00Z',
        fields: { text },
      }
      const response = await service.signed(site, 'POST', '/webhook', body)
      // The signature is valid; only the destination is missing.
      expect(response.code).toBe('form-bridge.no_destination')
    }
  })

  test('larger than a submission with files is rejected before it is verified', async () => {
    const site = await service.connected()
    const secret = 'guessed'
    const body = { text: 'x'.repeat(6_000_000) }
    const response = await service.signed(site, 'POST', '/webhook', body, { secret })
    expect(response).toMatchObject({ status: 413, code: 'request.too_large' })
  })

  test.each([
    '',
    'Bearer',
    'Bearer nonsense',
    'Basic YTpi',
    `Bearer fb_live_00000000_${'a'.repeat(43)}_00000000`,
  ])('is not replaced by the authorization "%s"', async (authorization) => {
    const response = await service.call('GET', '/site', { headers: { authorization } })
    expect(response).toMatchObject(unauthorized)
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('of a site with a non-ASCII address matches the bytes that PHP sends', async () => {
    const asBytes = (text: string) => Buffer.from(text).toString('latin1')
    const wordpress = service.host.site()
    wordpress.url += 'bücher/'
    const site = await service.connected({}, wordpress)
    const home = asBytes(wordpress.url)
    expect((await service.signed(site, 'GET', '/site', undefined, { home })).status).toBe(200)
    const moved = { home: asBytes('https://bücher.example') }
    const response = await service.signed(site, 'GET', '/site', undefined, moved)
    expect(response.body.error.data.home).toBe('xn--bcher-kva.example')
  })
})
