import { describe, expect, test } from 'vitest'
import { createSignatureVerifier } from '../src/signature.ts'
import { FORM, official, signed } from './support/signed.ts'

const NOW = 4_102_444_800
const check = createSignatureVerifier(official.secret)
const at = (seconds: number) => seconds * 1000

describe('key one', () => {
  test('accepts the signed example of Slack’s documentation', () => {
    const request = {
      rawBody: Buffer.from(official.body),
      headers: {
        'X-Slack-Request-Timestamp': String(official.timestamp),
        'X-Slack-Signature': official.signature,
      },
    }
    expect(check(request, at(official.timestamp))).toBeUndefined()
    expect(
      check({ ...request, rawBody: Buffer.from(`${official.body}&`) }, at(official.timestamp)),
    ).toBe('wrong_signature')
  })

  test.each([
    ['bytes that are not text', Buffer.from([0, 0xff, 0xfe, 0x80, 0x0a])],
    ['an empty body', Buffer.alloc(0)],
    ['text beyond ASCII', Buffer.from('{"text":"café 🎉"}')],
    ['a view of a larger buffer', Buffer.from('xxbodyxx').subarray(2, 6)],
  ])('covers the raw bytes: %s', (_, rawBody) => {
    expect(check(signed(rawBody), at(NOW))).toBeUndefined()
  })

  test.each([
    ['x-slack-signature', undefined],
    ['x-slack-request-timestamp', undefined],
    ['x-slack-signature', ''],
    ['x-slack-request-timestamp', ''],
  ])('rejects a request with a missing or invalid header: %s = %j', (name, value) => {
    const { rawBody, headers } = signed('{}')
    const without = Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name))
    const sent = value === undefined ? without : { ...without, [name]: value }
    expect(check({ rawBody, headers: sent }, at(NOW))).toBe('missing_header')
  })

  test('rejects requests that are more than five minutes in the past or future', () => {
    const ages = [-301, -300, 0, 300, 301].map((age) =>
      check(signed('{}', { timestamp: NOW - age }), at(NOW)),
    )
    expect(ages).toEqual(['future_timestamp', undefined, undefined, undefined, 'stale_timestamp'])
    expect(check(signed('{}', { timestamp: NOW + 86_400 }), at(NOW))).toBe('future_timestamp')
  })

  test.each(['v1', 'v9', 'v00'])(
    'rejects another version, even if it is signed as such: %s',
    (version) => {
      expect(check(signed('{}', { version }), at(NOW))).toBe('unknown_version')
    },
  )

  test.each([
    `${NOW}.0`,
    `+${NOW}`,
    ` ${NOW}`,
    `${NOW} `,
    `0x${NOW.toString(16)}`,
    '1e9',
    'now',
    '-1',
    '1234567890123',
  ])('rejects a timestamp that is not only digits, even if it is signed: "%s"', (timestamp) => {
    expect(check(signed('{}', { timestamp }), at(NOW))).toBe('malformed_header')
  })

  test.each([
    ['too short', (signature: string) => signature.slice(0, -2)],
    ['too long', (signature: string) => `${signature}00`],
    ['not hexadecimal', (signature: string) => `${signature.slice(0, -1)}g`],
    ['two in one', (signature: string) => `${signature}, ${signature}`],
    ['without its version', (signature: string) => signature.slice(3)],
    ['with a space', (signature: string) => ` ${signature}`],
  ])('rejects a malformed signature: %s', (_, change) => {
    const { rawBody, headers } = signed('{}')
    const changed = change(headers['x-slack-signature'] ?? '')
    const request = { rawBody, headers: { ...headers, 'x-slack-signature': changed } }
    expect(check(request, at(NOW))).toBe('malformed_header')
  })

  test('finds its headers in any case and in fetch headers, but not if they are sent twice', () => {
    const { rawBody, headers } = signed('{}')
    const signature = headers['x-slack-signature'] ?? ''
    const shouted = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    )
    expect(check({ rawBody, headers: shouted }, at(NOW))).toBeUndefined()
    expect(check({ rawBody, headers: new Headers(headers) }, at(NOW))).toBeUndefined()
    const lists = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value]]),
    )
    expect(check({ rawBody, headers: lists }, at(NOW))).toBeUndefined()

    const twice = [
      { ...headers, 'X-Slack-Signature': signature },
      { ...headers, 'x-slack-signature': [signature, signature] },
    ]
    for (const sent of twice)
      expect(check({ rawBody, headers: sent }, at(NOW))).toBe('missing_header')
    const appended = new Headers(headers)
    appended.append('x-slack-signature', signature)
    expect(check({ rawBody, headers: appended }, at(NOW))).toBe('malformed_header')
  })

  test('accepts every valid secret during a rotation', () => {
    const rotating = createSignatureVerifier(['new-secret', official.secret])
    expect(rotating(signed('{}', { secret: 'new-secret' }), at(NOW))).toBeUndefined()
    expect(rotating(signed('{}'), at(NOW))).toBeUndefined()
    expect(rotating(signed('{}', { secret: 'another' }), at(NOW))).toBe('wrong_signature')
  })

  test('cannot be created with an empty secret, no secret, or a token', () => {
    for (const secrets of ['', '  ', [], ['good', '']]) {
      expect(() => createSignatureVerifier(secrets)).toThrow(/signing secret/)
    }
    expect(() => createSignatureVerifier(undefined as unknown as string)).toThrow(/signing secret/)
    expect(() => createSignatureVerifier('xoxb-1-2-3')).toThrow('This is a token')
  })

  test('is the same for a form', () => {
    expect(check(signed('a=1', { contentType: FORM }), at(NOW))).toBeUndefined()
  })
})
