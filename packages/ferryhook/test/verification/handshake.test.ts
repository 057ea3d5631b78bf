import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { providers } from '../../src/sources/values.ts'
import { answerHandshake, type Handshake } from '../../src/verification/handshake.ts'
import { SigningScheme } from '../../src/verification/schemes.ts'

const sourceId = 'src_0123456789abcdef'

function answer(
  provider: (typeof providers)[number],
  given: Partial<Omit<Handshake, 'source'>> & { body?: object | string; query?: string },
) {
  const { body = '', query = '', ...rest } = given
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return answerHandshake({
    source: { sourceId, provider },
    request: {
      method: query === '' ? 'POST' : 'GET',
      url: `https://hooks.example.com/in/${sourceId}${query}`,
      headers: {},
      body: Buffer.from(text),
    },
    ...rest,
  })
}

describe('slack', () => {
  const body = { type: 'url_verification', challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkv' }

  test('a challenge is echoed', () => {
    const right = {
      status: 200,
      contentType: 'application/json',
      body: JSON.stringify({ challenge: body.challenge }),
    }
    expect(answer('slack', { body })).toEqual(right)
  })

  test('events are not handshakes, whatever they contain', () => {
    const mention = { type: 'event_callback', event: { text: 'url_verification' }, challenge: 'x' }
    for (const other of [mention, { ...body, challenge: '<script>' }, { type: body.type }, '{']) {
      expect(answer('slack', { body: other })).toBeUndefined()
    }
  })
})

describe('discord', () => {
  test('each kind of ping has its own response', () => {
    const pong = { status: 200, contentType: 'application/json', body: '{"type":1}' }
    expect(answer('discord', { body: { type: 1, id: '1', version: 1 } })).toEqual(pong)
    expect(answer('discord', { body: { type: 0, application_id: '1' } })).toMatchObject({
      status: 204,
      body: '',
    })
  })

  test('interactions and events are not pings', () => {
    const event = { type: 1, version: 1, event: { type: 'APPLICATION_AUTHORIZED' } }
    for (const body of [{ type: 2, data: {} }, event, {}, [], 'null']) {
      expect(answer('discord', { body })).toBeUndefined()
    }
  })
})

describe('a subscription by challenge, as Meta sends it', () => {
  const query = (given: object = {}) => {
    const parameters = new URLSearchParams({
      'hub.mode': 'subscribe',
      'hub.challenge': '1158201444',
      'hub.verify_token': sourceId,
      ...given,
    })
    return `?${parameters.toString()}`
  }

  test('is confirmed to a client that knows the source id', () => {
    expect(answer('custom', { query: query() })).toEqual({
      status: 200,
      contentType: 'text/plain',
      body: '1158201444',
    })
  })

  test('is not confirmed to other clients, for other providers, or with markup', () => {
    expect(answer('custom', { query: query({ 'hub.verify_token': 'guess' }) })).toBeUndefined()
    expect(answer('custom', { query: query({ 'hub.mode': 'unsubscribe' }) })).toBeUndefined()
    expect(answer('custom', { query: query({ 'hub.challenge': '<b>' }) })).toBeUndefined()
    expect(answer('custom', { query: '?' })).toBeUndefined()
    expect(answer('stripe', { query: query() })).toBeUndefined()
  })
})

describe('zoom', () => {
  const scheme = SigningScheme.parse({
    algorithm: 'hmac-sha256',
    header: 'x-zm-signature',
    prefix: 'v0=',
    template: 'v0:{timestamp}:{body}',
    timestampHeader: 'x-zm-request-timestamp',
  })
  const asking = (plainToken: string) => ({
    body: { event: 'endpoint.url_validation', payload: { plainToken } },
    scheme,
    secrets: ['secret', 'older'],
  })

  test('the token is returned with its digest', () => {
    const encryptedToken = createHmac('sha256', 'secret')
      .update('qgg8vlvZRS6UYooatFL8Aw')
      .digest('hex')
    expect(answer('custom', asking('qgg8vlvZRS6UYooatFL8Aw'))?.body).toBe(
      JSON.stringify({ plainToken: 'qgg8vlvZRS6UYooatFL8Aw', encryptedToken }),
    )
  })

  test('only Zoom gets something signed, and only a token', () => {
    const request = asking('token')
    expect(answer('custom', { ...request, scheme: undefined })).toBeUndefined()
    expect(answer('custom', asking('v0:1700000000:{"forged":true}'))).toBeUndefined()
    expect(answer('custom', { ...request, secrets: [] })).toBeUndefined()
    const other = SigningScheme.parse({ algorithm: 'hmac-sha256' })
    expect(answer('custom', { ...request, scheme: other })).toBeUndefined()
    expect(answer('custom', { ...request, body: { event: 'meeting.started' } })).toBeUndefined()
  })
})

test('a GitHub ping is an ordinary event, like requests of other providers', () => {
  expect(answer('github', { body: { zen: 'Keep it logically awesome.', hook_id: 1 } })).toBe(
    undefined,
  )
  expect(answer('stripe', { body: { type: 'url_verification', challenge: 'x' } })).toBeUndefined()
})
