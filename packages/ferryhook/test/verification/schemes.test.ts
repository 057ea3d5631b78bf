import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FailureReason } from '../../src/verification/scheme.ts'
import { schemes, verifySignature } from '../../src/verification/schemes.ts'
import {
  NOW,
  outcome,
  requestOf,
  signatureHeaders,
  type Signer,
  URL_OF_SOURCE,
  withHeader,
} from '../support/signed-requests.ts'
import { signers } from '../support/signers.ts'

const reasons: FailureReason[] = [
  'no_secret',
  'missing_header',
  'malformed_header',
  'malformed_body',
  'no_match',
  'too_old',
  'too_new',
  'untrusted_certificate',
  'certificate_unavailable',
]

test('every scheme has a signer, so that all of them are tested here', () => {
  const signed = signers.map(({ scheme }) => scheme.algorithm)
  // One scheme with three hash sizes, of which two are enough.
  const tested = new Set([...signed, 'hmac-sha1'])
  expect([...tested].toSorted()).toEqual(Object.keys(schemes).toSorted())
})

describe.each(signers)('$name', (signer) => {
  test('a request signed by the provider is accepted', async () => {
    expect(await outcome(signer, requestOf(signer))).toBe('accepted')
  })

  test('a request signed with another secret is rejected', async () => {
    const request = requestOf(signer, { secret: signer.secrets[1] })
    expect(await outcome(signer, request)).toBe('no_match')
  })

  test('each of two active secrets is accepted, and no other', async () => {
    const [first, second] = signer.secrets
    for (const secret of [first, second]) {
      const request = requestOf(signer, { secret })
      expect(await outcome(signer, request, { secrets: [first, second] })).toBe('accepted')
      expect(await outcome(signer, request, { secrets: ['', second, first] })).toBe('accepted')
    }
  })

  test('a body with one altered byte is rejected', async () => {
    const request = requestOf(signer)
    for (const place of [0, request.body.length >> 1, request.body.length - 1]) {
      const body = Buffer.from(request.body)
      body.writeUInt8(body.readUInt8(place) ^ 1, place)
      expect(await outcome(signer, { ...request, body })).toBe(signer.alteredBody ?? 'no_match')
    }
    const shorter = { ...request, body: request.body.subarray(1) }
    expect(await outcome(signer, shorter)).toBe(signer.alteredBody ?? 'no_match')
  })

  test('a request that lacks one of the headers is rejected', async () => {
    const request = requestOf(signer)
    for (const [name] of signatureHeaders(request)) {
      expect(await outcome(signer, withHeader(request, name, undefined)), name).toBe(
        'missing_header',
      )
    }
  })

  test('non-ASCII, empty and garbled headers are rejected without an error', async () => {
    const request = requestOf(signer)
    for (const [name, value] of signatureHeaders(request)) {
      const garbled = ['', ' ', '=', 'ключ', 'é'.repeat(value.length), '\u0000', '{}', ',;,;', '%']
      for (const text of [...garbled, `${value.slice(0, -5)}é!${value.slice(-3)}`]) {
        expect(await outcome(signer, withHeader(request, name, text)), `${name}: ${text}`).toMatch(
          /^(?:malformed_header|no_match)$/,
        )
      }
    }
  })

  test('a repeated header does not bypass the check', async () => {
    const request = requestOf(signer)
    const [name = '', value = ''] =
      signatureHeaders(request).find(([each]) => /sig|hmac|token/.test(each)) ?? []
    const doubled = withHeader(request, name, `${value}, ${value}`)
    const usual = name === 'x-gitlab-token' ? 'no_match' : 'malformed_header'
    expect(await outcome(signer, doubled)).toBe(signer.doubledSignature ?? usual)
    const forged = { ...doubled, body: Buffer.from('forged') }
    expect(await outcome(signer, forged)).not.toBe('accepted')
  })

  test('an empty body is verified like any other, unless the provider never sends one', async () => {
    const request = requestOf(signer, { body: '' })
    expect(request.body).toHaveLength(0)
    expect(await outcome(signer, request)).toBe(signer.emptyBody ?? 'accepted')
  })

  test('nothing is accepted without a secret or with an empty one', async () => {
    const request = requestOf(signer)
    expect(await outcome(signer, request, { secrets: [] })).toBe('no_secret')
    expect(await outcome(signer, request, { secrets: ['', ''] })).toBe('no_secret')
  })

  test('any request is either valid or rejected with a reason, without an error', async () => {
    const valid = requestOf(signer)
    const names = signatureHeaders(valid).map(([name]) => name)
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.constantFrom(...signatureHeaders(valid).map(([, value]) => value)),
      fc.base64String({ maxLength: 400 }),
      fc.stringMatching(/^(?:v1,|v1a,|v0=|t=|sha256=|ts=1;h1=)?[0-9a-f]{0,140}$/),
      fc.integer({ min: 0, max: 1e14 }).map(String),
    )
    const requests = fc.record({
      method: fc.constantFrom('POST', 'PUT', 'GET'),
      url: fc.oneof(fc.constant(URL_OF_SOURCE), fc.string(), fc.webUrl()),
      headers: fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), text),
      body: fc.uint8Array({ maxLength: 200 }),
    })
    // A short secret that is sent itself would be matched by chance.
    const others = fc.string().map((rest) => `another secret ${rest}`)
    const secrets = fc.array(fc.oneof(fc.constantFrom('', ...signer.secrets), others))
    await fc.assert(
      fc.asyncProperty(requests, secrets, fc.nat(), async (request, keys, now) => {
        const verdict = await verifySignature({ ...signer, secrets: keys, request, now })
        const signed = names.every((name) => request.headers[name] === valid.headers[name])
        const told = verdict.ok ? 'right' : verdict.reason
        expect(signed ? ['right', ...reasons] : reasons).toContain(told)
      }),
      { numRuns: process.env['SLOW'] ? 5_000 : 100 },
    )
  })
})

describe.each(signers.filter(({ asymmetric }) => !asymmetric))('$name', (signer) => {
  test('a request signed with an empty secret is rejected by a source that has a secret', async () => {
    const forged = requestOf(signer, { secret: '' })
    expect(await outcome(signer, forged, { secrets: [''] })).toBe('no_secret')
    expect(await outcome(signer, forged, { secrets: ['', signer.secrets[0]] })).not.toBe('accepted')
  })
})

const timed = signers.filter((signer) => signer.toleranceSeconds !== undefined)

describe.each(timed)('the timestamp of a $name request', (signer) => {
  const tolerance = (signer as Required<Signer>).toleranceSeconds * 1000

  test('may differ from now by the tolerance, in both directions', async () => {
    for (const at of [NOW - tolerance, NOW + tolerance]) {
      expect(await outcome(signer, requestOf(signer, { at }))).toBe('accepted')
    }
  })

  test('is rejected beyond the tolerance even if the signature is valid', async () => {
    const stale = requestOf(signer, { at: NOW - tolerance - 1000 })
    expect(await outcome(signer, stale)).toBe('too_old')
    const early = requestOf(signer, { at: NOW + tolerance + 1000 })
    expect(await outcome(signer, early)).toBe('too_new')
  })

  test('is covered by the signature', async () => {
    const [stale, fresh] = [requestOf(signer, { at: NOW - 7_200_000 }), requestOf(signer)]
    const timeOnly = signatureHeaders(fresh).filter(([name]) => /time/.test(name))
    const headers = { ...stale.headers, ...Object.fromEntries(timeOnly) }
    // A timestamp without its own header is copied from the other signature.
    for (const name of ['stripe-signature', 'paddle-signature']) {
      const time = /\d{10}/.exec(fresh.headers[name] ?? '')?.[0]
      if (time !== undefined) headers[name] = String(stale.headers[name]).replace(/\d{10}/, time)
    }
    const body = signer.bodyAt ? fresh.body : stale.body
    expect(await outcome(signer, { ...stale, headers, body })).toBe('no_match')
  })
})
