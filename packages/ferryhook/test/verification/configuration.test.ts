import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { providers } from '../../src/sources/item.ts'
import {
  checkSigning,
  signingAttributes,
  type SigningInput,
  schemeOf,
} from '../../src/verification/configuration.ts'
import { makeCertificate } from '../support/certificates.ts'
import { signers } from '../support/signers.ts'

const check = (given: Partial<SigningInput>) =>
  checkSigning({ provider: 'custom', secrets: ['secret'], ...given })

/** What is wrong, one line for each problem. */
function problems(given: Partial<SigningInput>): string[] {
  const result = check(given)
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`)
}

describe('how a source is verified', () => {
  test('is the way of its provider as soon as it has a secret', () => {
    for (const provider of providers) {
      const scheme = schemeOf({ provider, signingSecret: 'AgR4sealed' })
      expect(scheme?.algorithm).toBe(provider === 'custom' ? 'hmac-sha256' : provider)
      expect(schemeOf({ provider })).toBeUndefined()
    }
  })

  test('is stored as algorithm and options, from which the same comes back', () => {
    for (const { scheme } of signers) {
      const { signingAlgorithm, signingOptions } = signingAttributes(scheme)
      expect(signingAlgorithm).toBe(scheme.algorithm)
      const source = { provider: 'custom', signingAlgorithm, signingOptions } as const
      expect(schemeOf(source)).toEqual(scheme)
    }
  })

  test('can be told by the names that are in use elsewhere', () => {
    const generic = check({ signingAlgorithm: 'generic-hmac-sha256' })
    expect(generic).toMatchObject({ ok: true, scheme: { algorithm: 'hmac-sha256' } })
    const svix = { signingAlgorithm: 'svix', secrets: [`whsec_${'A'.repeat(32)}`] }
    expect(check(svix)).toMatchObject({ ok: true, scheme: { algorithm: 'standard-webhooks' } })
  })

  test('can be not at all, if that is said', () => {
    expect(check({ provider: 'stripe', signingAlgorithm: 'none' })).toEqual({
      ok: true,
      scheme: undefined,
    })
    expect(check({ provider: 'stripe', secrets: [] })).toEqual({ ok: true, scheme: undefined })
    const source = { provider: 'stripe', signingAlgorithm: 'none', signingSecret: 'x' } as const
    expect(schemeOf(source)).toBeUndefined()
  })

  test('is never guessed from what makes no sense in the store', () => {
    for (const damaged of [
      { signingAlgorithm: 'carrier-pigeon' },
      { signingAlgorithm: 'stripe', signingOptions: '{"toleranceSeconds":-1}' },
      { signingAlgorithm: 'stripe', signingOptions: '{' },
      { signingAlgorithm: '__proto__' },
    ]) {
      expect(() => schemeOf({ provider: 'custom', ...damaged })).toThrow()
    }
  })
})

describe('a wrong configuration', () => {
  test('names the algorithms there are', () => {
    for (const signingAlgorithm of ['carrier-pigeon', 'constructor', '']) {
      const [problem] = problems({ signingAlgorithm })
      expect(problem).toMatch(/^signingAlgorithm: Must be one of: none, stripe, .*hmac-sha512$/)
    }
  })

  test.each<[object, string]>([
    [
      { header: 'x signature' },
      'header: Must be the name of a header: letters, digits and hyphens',
    ],
    [{ encoding: 'base32' }, 'encoding: Must be hex or base64'],
    [{ prefix: 'x'.repeat(65) }, 'prefix: Must be at most 64 characters'],
    [
      { template: 'body' },
      'template: Must contain {body} exactly once, because an unsigned body can be forged',
    ],
    [
      { template: '{body}{body}' },
      'template: Must contain {body} exactly once, because an unsigned body can be forged',
    ],
    [
      { template: '{body}{date}' },
      'template: Must contain no braces except in {timestamp}, {id}, {body} and {url}',
    ],
    [
      { template: '{timestamp}.{body}' },
      'timestampHeader: Set timestampHeader and use {timestamp} in the template, or neither',
    ],
    [
      { timestampHeader: 'x-time' },
      'timestampHeader: Set timestampHeader and use {timestamp} in the template, or neither',
    ],
    [{ idHeader: 'x-id' }, 'idHeader: Set idHeader and use {id} in the template, or neither'],
    [
      { toleranceSeconds: 0 },
      'toleranceSeconds: Must be a whole number of seconds from 1 to 604800',
    ],
  ])('of an HMAC is rejected with what to do: %j', (signingOptions, problem) => {
    const given = { signingAlgorithm: 'hmac-sha256', signingOptions: { ...signingOptions } }
    expect(problems(given)).toEqual([`signingOptions.${problem}`])
  })

  test('does not pass for an option that the algorithm does not have', () => {
    const given = { signingAlgorithm: 'github', signingOptions: { toleranceSeconds: 3 } }
    expect(problems(given)).toEqual([expect.stringContaining('toleranceSeconds')])
  })

  test('of PayPal is a certificate that is none, or not of an RSA key', () => {
    const secrets = ['3RN13029J36659323']
    const pinned = (certificates: unknown) =>
      problems({ provider: 'paypal', secrets, signingOptions: { certificates } })
    const right = makeCertificate({ name: 'x', key: 'rsa' }).pem
    expect(pinned(right)).toEqual([])
    for (const wrong of ['', 'PEM', makeCertificate({ name: 'x' }).pem, 7, right.repeat(11)]) {
      expect(pinned(wrong)).toEqual([
        'signingOptions.certificates: Must be RSA certificates in PEM, at most 10',
      ])
    }
  })
})

describe('a secret', () => {
  test('of each signer is taken', () => {
    for (const { scheme, secrets, name } of signers) {
      const { signingAlgorithm, signingOptions } = signingAttributes(scheme)
      const options = JSON.parse(signingOptions ?? '') as Record<string, unknown>
      expect(problems({ signingAlgorithm, signingOptions: options, secrets }), name).toEqual([])
    }
  })

  const pem = (type: 'public' | 'private', namedCurve = 'P-256') => {
    const pair = generateKeyPairSync('ec', { namedCurve })
    return type === 'public'
      ? pair.publicKey.export({ type: 'spki', format: 'pem' }).toString().trim()
      : pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim()
  }

  test('of SendGrid may be PEM', () => {
    expect(problems({ provider: 'sendgrid', secrets: [pem('public')] })).toEqual([])
  })

  test.each<[SigningInput['provider'], string]>([
    ['stripe', 'sk_live_51abc'],
    ['stripe', 'whsec_'],
    ['slack', 'xoxb-1-2-3'],
    ['twilio', `AC${'0'.repeat(32)}`],
    ['sendgrid', 'SG.key'],
    ['sendgrid', pem('private')],
    ['sendgrid', pem('public', 'P-384')],
    ['paypal', 'WH-1'],
    ['gitlab', 'whsec_not base64'],
    ['standard-webhooks', 'whsec_***'],
    ['standard-webhooks', 'whsec_AAAA'],
    ['standard-webhooks', 'whpk_AAAA'],
    ['discord', 'not hexadecimal'],
    ['discord', '00'],
  ])('of %s that cannot be one is refused, and what to give is said', (provider, secret) => {
    const [problem, ...others] = problems({ provider, secrets: [secret] })
    expect(problem).toMatch(/^signingSecret: Enter the /)
    expect(others).toEqual([])
  })

  test.each([
    ['', 'Must not be empty'],
    [' secret', 'Must not start or end with spaces or line breaks'],
    ['secret\n', 'Must not start or end with spaces or line breaks'],
    ['x'.repeat(1025), 'Must be at most 1024 characters'],
  ])('that nobody can mean is refused: %j', (secret, problem) => {
    expect(problems({ provider: 'github', secrets: ['fine', secret] })).toEqual([
      `signingSecret: ${problem}`,
    ])
  })

  test('is never part of the message', () => {
    const secrets = ['xoxb-7-unmistakable']
    expect(problems({ provider: 'slack', secrets }).join()).not.toContain('unmistakable')
  })

  test('is asked for where an algorithm is', () => {
    expect(problems({ signingAlgorithm: 'github', secrets: [] })).toEqual([
      'signingSecret: Enter the secret that the sender signs with',
    ])
  })
})
