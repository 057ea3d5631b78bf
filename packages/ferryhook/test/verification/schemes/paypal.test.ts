import { createSafeFetch } from '@strongroom/kit/safe-fetch'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  createPayPalCertificates,
  type PayPalCertificatesOf,
} from '../../../src/verification/paypal-certificates.ts'
import { SigningScheme, verifySignature } from '../../../src/verification/schemes.ts'
import { type Issued, makeCertificate } from '../../support/certificates.ts'
import { NOW } from '../../support/signed-requests.ts'
import { payPalHeaders } from '../../support/signers.ts'

const LIVE = 'messageverificationcerts.paypal.com'
const SANDBOX = 'messageverificationcerts.sandbox.paypal.com'
const URL_OF_CERTIFICATE = 'https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594'
const URL_OF_SANDBOX = URL_OF_CERTIFICATE.replace('api.', 'api.sandbox.')

const root = makeCertificate({ name: 'Root', ca: true })
const authority = makeCertificate({ name: 'Authority', ca: true, issuer: root })
const leaf = makeCertificate({ name: LIVE, issuer: authority, key: 'rsa' })

const clock = testClock(NOW)
let asked: string[] = []
let answer: (url: string) => { status: number; body: Uint8Array; truncated: boolean }
let certificates: PayPalCertificatesOf | undefined

beforeEach(() => {
  asked = []
  serve(leaf, authority)
  certificates = createPayPalCertificates({
    clock,
    roots: [root.pem],
    fetch: async (url) => {
      asked.push(url)
      return answer(url)
    },
  })
})

function serve(...chain: Issued[]) {
  const body = Buffer.from(chain.map(({ pem }) => pem).join(''))
  answer = () => ({ status: 200, body, truncated: false })
}

async function outcome({
  signedBy = leaf,
  url = URL_OF_CERTIFICATE,
  options = {},
  now = NOW,
  source = 'src_1',
}: { signedBy?: Issued; url?: string; options?: object; now?: number; source?: string } = {}) {
  const secret = '3RN13029J36659323'
  const body = Buffer.from('{"id":"WH-1"}')
  const { privateKey } = signedBy
  const headers = payPalHeaders({ secret, body, at: NOW }, { privateKey, url })
  const verdict = await verifySignature({
    scheme: SigningScheme.parse({ algorithm: 'paypal', ...options }),
    secrets: [secret],
    request: { method: 'POST', url: 'https://example.com/in/src_1', headers, body },
    now,
    payPalCertificates: certificates?.(source),
  })
  return verdict.ok ? 'accepted' : verdict.reason
}

describe('the certificate that PayPal signed with', () => {
  test('is fetched from PayPal and trusted because of its issuer', async () => {
    expect(await outcome()).toBe('accepted')
    expect(asked).toEqual([URL_OF_CERTIFICATE])
  })

  test('is fetched once for any number of requests, sequential or concurrent', async () => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcome()))
    expect(new Set([...outcomes, await outcome()])).toEqual(new Set(['accepted']))
    expect(asked).toHaveLength(1)
  })

  test("may come from any of PayPal's four addresses, each for its environment", async () => {
    const tried = makeCertificate({ name: SANDBOX, issuer: authority, key: 'rsa' })
    const sandbox = { environment: 'sandbox' }
    expect(await outcome({ url: URL_OF_CERTIFICATE.replace('api.', 'api-m.') })).toBe('accepted')
    serve(tried, authority)
    for (const url of [URL_OF_SANDBOX, URL_OF_SANDBOX.replace('api.', 'api-m.')]) {
      expect(await outcome({ signedBy: tried, url, options: sandbox })).toBe('accepted')
      expect(await outcome({ signedBy: tried, url })).toBe('untrusted_certificate')
    }
    expect(await outcome({ options: sandbox })).toBe('untrusted_certificate')
  })

  test.each([
    'http://api.paypal.com/v1/notifications/certs/CERT-1',
    'https://api.paypal.com.evil.example/v1/notifications/certs/CERT-1',
    'https://evil.example/v1/notifications/certs/CERT-1',
    'https://api.paypal.com@evil.example/v1/notifications/certs/CERT-1',
    'https://user@api.paypal.com/v1/notifications/certs/CERT-1',
    'https://api.paypal.com:8443/v1/notifications/certs/CERT-1',
    'https://api.paypal.com/v1/notifications/certs/CERT-1?x=y',
    'https://api.paypal.com/v1/notifications/certs/../../CERT-1',
    'https://api.paypal.com/v1/other',
    'https://xapi.paypal.com/v1/notifications/certs/CERT-1',
    'https://api.paypal.com/v1/notifications/certs/CERT-1\n',
    '',
    'é',
  ])('is not fetched from any other address: %s', async (url) => {
    expect(await outcome({ url })).toBe('untrusted_certificate')
    expect(asked).toEqual([])
  })

  test('must be issued for the name that PayPal signs with', async () => {
    for (const name of ['www.paypal.com', SANDBOX, '*.paypal.com', 'evil.example']) {
      const other = makeCertificate({
        name: LIVE,
        alternativeName: name,
        issuer: authority,
        key: 'rsa',
      })
      serve(other, authority)
      expect(await outcome({ signedBy: other }), name).toBe('untrusted_certificate')
    }
  })

  test('must be issued by an authority that a root certificate confirms', async () => {
    const selfMade = makeCertificate({ name: LIVE, key: 'rsa' })
    const strangerRoot = makeCertificate({ name: 'Root', ca: true })
    const stranger = makeCertificate({ name: LIVE, issuer: strangerRoot, key: 'rsa' })
    const noAuthority = makeCertificate({ name: 'Authority', issuer: root })
    const misissued = makeCertificate({ name: LIVE, issuer: noAuthority, key: 'rsa' })
    for (const chain of [
      [selfMade],
      [stranger],
      [stranger, strangerRoot],
      [stranger, root],
      [stranger, authority],
      [misissued, noAuthority],
      [leaf],
    ] as [Issued, ...Issued[]][]) {
      serve(...chain)
      expect(await outcome({ signedBy: chain[0] })).toBe('untrusted_certificate')
    }
  })

  test('is found in a chain of any order, even in a circular one', async () => {
    const second = makeCertificate({ name: 'Second', ca: true, issuer: authority })
    const deep = makeCertificate({ name: LIVE, issuer: second, key: 'rsa' })
    serve(deep, root, authority, second)
    expect(await outcome({ signedBy: deep })).toBe('accepted')
    const loop = makeCertificate({ name: 'Loop', ca: true })
    const looped = makeCertificate({ name: LIVE, issuer: loop, key: 'rsa' })
    serve(looped, loop, loop, loop)
    const other = URL_OF_CERTIFICATE.replace('360', '361')
    expect(await outcome({ signedBy: looped, url: other })).toBe('untrusted_certificate')
  })

  test('must be current, like its issuers, even if it is cached', async () => {
    const dates = { issuer: root, key: 'rsa', name: LIVE } as const
    const expired = makeCertificate({ ...dates, to: '20260228000000Z' })
    const early = makeCertificate({ ...dates, from: '20260302000000Z' })
    const expiredAuthority = makeCertificate({
      name: 'Old',
      ca: true,
      issuer: root,
      to: '20250101000000Z',
    })
    const late = makeCertificate({ ...dates, issuer: expiredAuthority })
    let number = 0
    for (const chain of [[expired], [early], [late, expiredAuthority]] as [Issued, ...Issued[]][]) {
      serve(...chain)
      const url = `${URL_OF_CERTIFICATE}${(number += 1)}`
      expect(await outcome({ signedBy: chain[0], url })).toBe('untrusted_certificate')
    }
    const brief = makeCertificate({ ...dates, to: '20260301120000Z' })
    serve(brief)
    expect(await outcome({ signedBy: brief })).toBe('accepted')
    const moving = createPayPalCertificates({
      clock: { now: () => NOW + 1000 },
      roots: [root.pem],
      fetch: async (url) => answer(url),
    })
    expect(await moving('src_1')(URL_OF_CERTIFICATE, 'live')).toBe('untrusted_certificate')
  })

  test('must have an RSA key', async () => {
    const elliptic = makeCertificate({ name: LIVE, issuer: authority, key: 'ed25519' })
    serve(elliptic, authority)
    expect(await outcome()).toBe('untrusted_certificate')
  })

  test('does not verify a signature of another key', async () => {
    expect(await outcome({ signedBy: makeCertificate({ name: LIVE, key: 'rsa' }) })).toBe(
      'no_match',
    )
  })

  test('is rejected without an error if it is garbage', async () => {
    const broken = leaf.pem.replace(/MII../, 'MIIA')
    for (const text of ['', 'not found', broken, leaf.pem.slice(0, 300), leaf.pem.repeat(11)]) {
      answer = () => ({ status: 200, body: Buffer.from(text), truncated: false })
      expect(await outcome()).toBe('untrusted_certificate')
    }
  })
})

describe('while a certificate cannot be fetched', () => {
  test('the reason says that the sender is not at fault, and the next request fetches again', async () => {
    const right = answer
    answer = () => {
      throw new Error('network')
    }
    expect(await outcome()).toBe('certificate_unavailable')
    answer = () => ({ ...right(''), status: 404 })
    expect(await outcome()).toBe('certificate_unavailable')
    answer = () => ({ ...right(''), truncated: true })
    expect(await outcome()).toBe('certificate_unavailable')
    answer = right
    expect(await outcome()).toBe('accepted')
  })

  test('requests with made-up certificate URLs cause few requests to PayPal', async () => {
    expect(await outcome()).toBe('accepted')
    const right = answer
    answer = () => ({ ...right(''), status: 404 })
    for (let made = 0; made < 50; made += 1) {
      const url = `${URL_OF_CERTIFICATE}-${made}`
      expect(await outcome({ url })).toBe('certificate_unavailable')
    }
    expect(asked).toHaveLength(1 + 10)
    expect(await outcome()).toBe('accepted')
    clock.advance({ minutes: 1 })
    answer = right
    expect(await outcome({ url: `${URL_OF_CERTIFICATE}-new` })).toBe('accepted')
  })

  test('failed fetches of one source do not use up those of another', async () => {
    const right = answer
    answer = () => ({ ...right(''), status: 404 })
    for (let made = 0; made < 12; made += 1) await outcome({ url: `${URL_OF_CERTIFICATE}-${made}` })
    expect(asked).toHaveLength(10)
    answer = right
    expect(await outcome()).toBe('certificate_unavailable')
    expect(await outcome({ source: 'src_2' })).toBe('accepted')
    // The certificate is cached now, for every source.
    expect(await outcome()).toBe('accepted')
  })

  test('all sources together fail at most a hundred times in a minute', async () => {
    const right = answer
    answer = () => ({ ...right(''), status: 404 })
    for (let made = 0; made < 150; made += 1) {
      await outcome({ url: `${URL_OF_CERTIFICATE}-${made}`, source: `src_${made}` })
    }
    expect(asked).toHaveLength(100)
    clock.advance({ minutes: 1 })
    answer = right
    expect(await outcome({ source: 'src_151' })).toBe('accepted')
  })

  test('few certificates are fetched in parallel', async () => {
    const urls = Array.from({ length: 60 }, (_, index) => `${URL_OF_CERTIFICATE}-${index}`)
    const outcomes = await Promise.all(urls.map((url) => outcome({ url })))
    expect(asked).toHaveLength(5)
    expect(outcomes.filter((each) => each === 'accepted')).toHaveLength(5)
    asked = []
    await Promise.all(
      urls.map((url, index) => outcome({ url: `${url}-2`, source: `src_${index}` })),
    )
    expect(asked).toHaveLength(20)
  })

  test('parallel failures count before they are known', async () => {
    const right = answer
    answer = () => ({ ...right(''), status: 404 })
    for (let round = 0; round < 4; round += 1) {
      const urls = Array.from(
        { length: 4 },
        (_, index) => `${URL_OF_CERTIFICATE}-${round}-${index}`,
      )
      await Promise.all(urls.map((url) => outcome({ url })))
    }
    expect(asked).toHaveLength(10)
  })

  test('a server without an HTTP client fetches nothing', async () => {
    const before = certificates
    certificates = undefined
    expect(await outcome()).toBe('certificate_unavailable')
    certificates = before
  })

  test('the SSRF-safe client can be used to fetch', async () => {
    const fetch = createSafeFetch({ resolve: () => Promise.resolve(['127.0.0.1']) })
    certificates = createPayPalCertificates({ clock, fetch })
    expect(await outcome()).toBe('certificate_unavailable')
    await fetch.close()
  })
})

describe('a pinned certificate', () => {
  test('is trusted regardless of its issuer, and nothing is fetched', async () => {
    const own = makeCertificate({ name: 'Pinned', key: 'rsa' })
    const options = { certificates: `${leaf.pem}${own.pem}` }
    expect(await outcome({ signedBy: own, options, url: 'https://evil.example' })).toBe('accepted')
    expect(await outcome({ signedBy: leaf, options })).toBe('accepted')
    expect(asked).toEqual([])
  })

  test('is not trusted unless it is current', async () => {
    const own = makeCertificate({ name: 'Pinned', key: 'rsa', to: '20260101000000Z' })
    expect(await outcome({ signedBy: own, options: { certificates: own.pem } })).toBe(
      'untrusted_certificate',
    )
  })
})
