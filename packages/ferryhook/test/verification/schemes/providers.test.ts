import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { SigningScheme } from '../../../src/verification/schemes.ts'
import type { SignedRequest } from '../../../src/verification/signed-request.ts'
import {
  NOW,
  outcome,
  requestOf,
  type Signer,
  URL_OF_SOURCE,
  withHeader,
} from '../../support/signed-requests.ts'
import { signers } from '../../support/signers.ts'

function signerOf(name: string): Signer {
  const found = signers.find((signer) => signer.name === name)
  if (!found) throw new Error(`There is no signer ${name}`)
  return found
}

describe('stripe', () => {
  const stripe = signerOf('stripe')
  const header = (request: SignedRequest) => String(request.headers['stripe-signature'])

  test('one valid signature among several is enough, as during a rotation', async () => {
    const request = requestOf(stripe)
    const [, right = ''] = /v1=(\w+)/.exec(header(request)) ?? []
    const both = header(request).replace('v1=', `v1=${'0'.repeat(64)},v1=`)
    expect(await outcome(stripe, withHeader(request, 'stripe-signature', both))).toBe('accepted')
    const oldVersion = header(request).replace(`v1=${right}`, `v0=${right}`)
    expect(await outcome(stripe, withHeader(request, 'stripe-signature', oldVersion))).toBe(
      'malformed_header',
    )
  })

  test('two timestamps in one header are rejected', async () => {
    const request = requestOf(stripe)
    const twice = `t=1,${header(request)}`
    expect(await outcome(stripe, withHeader(request, 'stripe-signature', twice))).toBe(
      'malformed_header',
    )
  })

  test('the tolerance is configurable', async () => {
    const patient = SigningScheme.parse({ algorithm: 'stripe', toleranceSeconds: 3600 })
    const old = requestOf(stripe, { at: NOW - 3_000_000 })
    expect(await outcome({ ...stripe, scheme: patient }, old)).toBe('accepted')
    expect(await outcome(stripe, old)).toBe('too_old')
  })
})

describe('github', () => {
  const legacy = signerOf('github with SHA-1 allowed')

  test('SHA-1 is accepted only if it is enabled', async () => {
    expect(await outcome(signerOf('github'), requestOf(legacy))).toBe('missing_header')
  })

  test('SHA-1 does not rescue a request with an invalid SHA-256 signature', async () => {
    const wrong = `sha256=${'0'.repeat(64)}`
    const request = withHeader(requestOf(legacy), 'x-hub-signature-256', wrong)
    expect(await outcome(legacy, request)).toBe('no_match')
  })

  test('a digest of another hash is rejected', async () => {
    const request = requestOf(legacy)
    const sha1 = String(request.headers['x-hub-signature']).replace('sha1=', 'sha256=')
    const relabelled = withHeader(request, 'x-hub-signature-256', sha1)
    expect(await outcome(legacy, relabelled)).toBe('no_match')
  })
})

describe('twilio', () => {
  const twilio = signerOf('twilio form')
  const signUrl = (url: string, text = '') =>
    createHmac('sha1', twilio.secrets[0])
      .update(url + text)
      .digest('base64')
  const jsonRequest = (body: string, hashed = body): SignedRequest => {
    const hash = createHash('sha256').update(hashed).digest('hex')
    const url = `https://hooks.example.com/in/src_1?bodySHA256=${hash}`
    const headers = { 'content-type': 'application/json', 'x-twilio-signature': signUrl(url) }
    return { method: 'POST', url, headers, body: Buffer.from(body) }
  }

  test('a body that is not a form is signed by its hash in the URL', async () => {
    expect(await outcome(twilio, jsonRequest('{"a":1}'))).toBe('accepted')
    expect(await outcome(twilio, jsonRequest('{"a":2}', '{"a":1}'))).toBe('no_match')
  })

  test('a body that is not covered by the signature is rejected although the URL is signed', async () => {
    const { headers } = jsonRequest('')
    const request = {
      method: 'POST',
      url: URL_OF_SOURCE,
      headers: { ...headers, 'x-twilio-signature': signUrl(URL_OF_SOURCE) },
    }
    expect(await outcome(twilio, { ...request, body: Buffer.from('{}') })).toBe('malformed_body')
    expect(await outcome(twilio, { ...request, body: Buffer.alloc(0) })).toBe('accepted')
  })

  test.each([
    ['https://a.example/in/x?y=1', 'https://a.example:443/in/x?y=1'],
    ['https://a.example:443/in/x', 'https://a.example/in/x'],
    ['https://a.example:8443/in/x', 'https://a.example/in/x'],
    ['http://a.example/in/x', 'http://a.example:80/in/x'],
    ['https://[2001:db8::1]:8443/in/x', 'https://[2001:db8::1]/in/x'],
    ['https://a.example:8443', 'https://a.example:8443'],
  ])('a request to %s may be signed for %s', async (url, signed) => {
    const headers = { 'x-twilio-signature': signUrl(signed) }
    const request = { method: 'POST', url, headers, body: Buffer.alloc(0) }
    expect(await outcome(twilio, request)).toBe('accepted')
    expect(await outcome(twilio, { ...request, url: `${url}/other` })).toBe('no_match')
  })

  test('form fields are signed decoded and sorted, and repeated values once', async () => {
    const text = 'Body1 + 1BodyGrüßeTo+1'
    const request: SignedRequest = {
      method: 'POST',
      url: URL_OF_SOURCE,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-twilio-signature': signUrl(URL_OF_SOURCE, text),
      },
      body: Buffer.from('To=%2B1&Body=Gr%C3%BC%C3%9Fe&Body=1+%2B+1&Body=1+%2B+1'),
    }
    expect(await outcome(twilio, request)).toBe('accepted')
  })
})

describe('gitlab', () => {
  const [token, signing] = [signerOf('gitlab token'), signerOf('gitlab signing token')]

  test('a token does not replace a signature that the source can verify', async () => {
    const request = requestOf(token)
    const secrets = [token.secrets[0], signing.secrets[0]]
    expect(await outcome(token, request, { secrets })).toBe('missing_header')
    const asToken = withHeader(request, 'x-gitlab-token', signing.secrets[0])
    expect(await outcome(signing, asToken)).toBe('missing_header')
  })

  test('a token does not rescue a request whose signature is invalid or cannot be verified', async () => {
    const request = requestOf(token)
    const headers = { ...requestOf(signing).headers, ...request.headers }
    const forged = { ...request, headers, body: Buffer.from('{"forged":true}') }
    const secrets = [token.secrets[0], signing.secrets[0]]
    expect(await outcome(token, forged, { secrets })).toBe('no_match')
    expect(await outcome(token, forged)).toBe('no_secret')
    const bare = withHeader(request, 'webhook-signature', 'v1,x')
    expect(await outcome(token, bare)).not.toBe('accepted')
  })

  test('a request with a token and a signature is verified by its signature', async () => {
    const request = requestOf(signing)
    const both = withHeader(request, 'x-gitlab-token', 'old token')
    expect(await outcome(signing, both)).toBe('accepted')
  })
})

describe('standard webhooks', () => {
  const [standard, svix] = [signerOf('standard webhooks'), signerOf('svix')]

  test('Svix headers take precedence, and the two families are not mixed', async () => {
    const both = { ...requestOf(standard).headers, ...requestOf(svix).headers }
    const request = { ...requestOf(svix), headers: both }
    expect(await outcome(svix, request)).toBe('accepted')
    expect(await outcome(svix, withHeader(request, 'svix-signature', 'v1,AAAA'))).toBe('no_match')
    expect(await outcome(svix, withHeader(request, 'svix-id', undefined))).toBe('missing_header')
  })

  test('one valid signature among several is enough, and unknown versions are ignored', async () => {
    const request = requestOf(standard)
    const list = `v2,AAAA v1a,AAAA v1,AAAA nonsense ${request.headers['webhook-signature']}`
    expect(await outcome(standard, withHeader(request, 'webhook-signature', list))).toBe('accepted')
  })

  test('a shared secret is not used as a public key, nor the other way round', async () => {
    const asymmetric = signerOf('standard webhooks with asymmetric keys')
    expect(await outcome(asymmetric, requestOf(standard))).toBe('no_match')
    expect(await outcome(standard, requestOf(asymmetric))).toBe('no_match')
  })

  test('a secret that is not a key matches nothing', async () => {
    const secrets = ['whsec_', 'whsec_***', 'whpk_AAAA']
    expect(await outcome(standard, requestOf(standard), { secrets })).toBe('no_secret')
  })
})

describe('linear', () => {
  const linear = signerOf('linear')

  test('only the timestamp inside the signed body counts', async () => {
    const stale = requestOf(linear, { at: NOW - 61_000 })
    const withFreshHeader = withHeader(stale, 'linear-timestamp', String(NOW))
    expect(await outcome(linear, withFreshHeader)).toBe('too_old')
  })

  test.each(['{"webhookTimestamp":"soon"}', '[]', 'null', 'no JSON', '{"webhookTimestamp":1e999}'])(
    'a signed body without a timestamp is rejected: %s',
    async (body) => {
      expect(await outcome(linear, requestOf(linear, { body }))).toMatch(/^(?:malformed_body|too_)/)
    },
  )
})

describe('a configurable HMAC', () => {
  const body = Buffer.from('{"a":1}')
  const request = (headers: Record<string, string>): SignedRequest => ({
    method: 'POST',
    url: URL_OF_SOURCE,
    headers,
    body,
  })
  const of = (options: object): Pick<Signer, 'scheme' | 'secrets'> => ({
    scheme: SigningScheme.parse(options),
    secrets: ['key', 'key'],
  })
  const digest = (hash: string, text: string, encoding: 'hex' | 'base64' = 'hex') =>
    createHmac(hash, 'key').update(text).digest(encoding)

  test('defaults to x-signature, in hexadecimal, over the body', async () => {
    const plain = of({ algorithm: 'hmac-sha256' })
    const signed = request({ 'x-signature': digest('sha256', body.toString()) })
    expect(await outcome(plain, signed)).toBe('accepted')
  })

  test('supports timestamp and signature in one header, as in t=…,v1=…', async () => {
    const shared = of({
      algorithm: 'hmac-sha256',
      header: 'workos-signature',
      prefix: 'v1=',
      timestampHeader: 'workos-signature',
      timestampPrefix: 't=',
      template: '{timestamp}.{body}',
    })
    const signature = digest('sha256', `${NOW}.${body.toString()}`)
    const signed = (value: string) => request({ 'workos-signature': value })
    expect(await outcome(shared, signed(`t=${NOW}, v1=${signature}`))).toBe('accepted')
    expect(await outcome(shared, signed(`t=${NOW}, t=${NOW + 1}, v1=${signature}`))).toBe(
      'malformed_header',
    )
    expect(await outcome(shared, signed(`v1=${signature}`))).toBe('malformed_header')
  })

  test('supports a prefix with a space, and SHA-1 for senders that have nothing else', async () => {
    const old = of({ algorithm: 'hmac-sha1', header: 'authorization', prefix: 'HMAC ' })
    const authorization = `HMAC ${digest('sha1', body.toString())}`
    expect(await outcome(old, request({ authorization }))).toBe('accepted')
  })
})
