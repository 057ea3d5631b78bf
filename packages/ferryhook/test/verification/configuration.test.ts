import { generateKeyPairSync } from 'node:crypto'
import { OpenAPIHono } from '@hono/zod-openapi'
import { describe, expect, test } from 'vitest'
import { providers } from '../../src/sources/values.ts'
import {
  checkSigning,
  signingAttributes,
  type SigningInput,
  schemeOf,
} from '../../src/verification/configuration.ts'
import { schemes } from '../../src/verification/schemes.ts'
import { SigningOptions } from '../../src/verification/signing-options.ts'
import { makeCertificate } from '../support/certificates.ts'
import { signers } from '../support/signers.ts'

const check = (given: Partial<SigningInput>) =>
  checkSigning({ provider: 'custom', secrets: ['secret'], ...given })

/** One line for each problem. */
function problems(given: Partial<SigningInput>): string[] {
  const result = check(given)
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`)
}

describe('the signing scheme of a source', () => {
  test('defaults to the scheme of the provider once there is a secret', () => {
    for (const provider of providers) {
      const scheme = schemeOf({ provider, signingSecret: 'AgR4sealed' })
      expect(scheme?.algorithm).toBe(provider === 'custom' ? 'hmac-sha256' : provider)
      expect(schemeOf({ provider })).toBeUndefined()
    }
  })

  test('is stored as algorithm and options, and is parsed back unchanged', () => {
    for (const { scheme } of signers) {
      const { signingAlgorithm, signingOptions } = signingAttributes(scheme)
      expect(signingAlgorithm).toBe(scheme.algorithm)
      const source = { provider: 'custom', signingAlgorithm, signingOptions } as const
      expect(schemeOf(source)).toEqual(scheme)
    }
  })

  test('has no options without verification', () => {
    const signingOptions = { header: 'x-signed' }
    const problem =
      'signingOptions: Have no effect without verification: set signingSecret, or omit them'
    expect(problems({ secrets: [], signingOptions })).toEqual([problem])
    expect(problems({ signingAlgorithm: 'none', signingOptions })).toEqual([problem])
    expect(problems({ secrets: [], signingOptions: {} })).toEqual([])
  })

  test('has each option of each algorithm in OpenAPI, with its limits, and no other', () => {
    const routes = new OpenAPIHono()
    routes.openAPIRegistry.register('Options', SigningOptions)
    const { components } = routes.getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: 'Options', version: '1' },
    })
    const documented = components?.schemas?.['Options'] as
      | { anyOf?: { title: string; properties: object; additionalProperties: boolean }[] }
      | undefined
    const forms = documented?.anyOf ?? []
    const titles = forms.flatMap(({ title }) => title.split(', '))
    expect(titles.toSorted()).toEqual(Object.keys(schemes).toSorted())
    const formOf = (name: string) => forms.find(({ title }) => title.split(', ').includes(name))
    expect(formOf('paddle')).toMatchObject({
      properties: { toleranceSeconds: { minimum: 1, maximum: 604_800, default: 5 } },
      additionalProperties: false,
    })
    expect(formOf('shopify')?.properties).toEqual({})
    expect(formOf('hmac-sha512')?.properties).toMatchObject({
      header: { default: 'x-signature', pattern: expect.any(String) },
      template: { maxLength: 200 },
      encoding: { enum: ['hex', 'base64'] },
    })
    expect(problems({ signingOptions: { color: 'red' } })).toHaveLength(1)
  })

  test('can be selected by a common alias', () => {
    const generic = check({ signingAlgorithm: 'generic-hmac-sha256' })
    expect(generic).toMatchObject({ ok: true, scheme: { algorithm: 'hmac-sha256' } })
    const svix = { signingAlgorithm: 'svix', secrets: [`whsec_${'A'.repeat(32)}`] }
    expect(check(svix)).toMatchObject({ ok: true, scheme: { algorithm: 'standard-webhooks' } })
  })

  test('can be turned off explicitly', () => {
    expect(check({ provider: 'stripe', signingAlgorithm: 'none' })).toEqual({
      ok: true,
      scheme: undefined,
    })
    expect(check({ provider: 'custom', secrets: [] })).toEqual({ ok: true, scheme: undefined })
    const source = { provider: 'stripe', signingAlgorithm: 'none', signingSecret: 'x' } as const
    expect(schemeOf(source)).toBeUndefined()
  })

  test('is never guessed from an invalid stored configuration', () => {
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

describe('an invalid configuration', () => {
  test('is rejected with the list of algorithms', () => {
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
  ])('of an HMAC is rejected with an explanation: %j', (signingOptions, problem) => {
    const given = { signingAlgorithm: 'hmac-sha256', signingOptions: { ...signingOptions } }
    expect(problems(given)).toEqual([`signingOptions.${problem}`])
  })

  test('is rejected if the algorithm does not have the option', () => {
    const given = { signingAlgorithm: 'github', signingOptions: { toleranceSeconds: 3 } }
    expect(problems(given)).toEqual([expect.stringContaining('toleranceSeconds')])
  })

  test('is rejected if the pinned PayPal certificate is unreadable or has no RSA key', () => {
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

describe('a signing secret', () => {
  test('is accepted in the format of each signer', () => {
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
  ])('of %s in the wrong format is rejected with an explanation', (provider, secret) => {
    const [problem, ...others] = problems({ provider, secrets: [secret] })
    expect(problem).toMatch(/^signingSecret: Enter the /)
    expect(others).toEqual([])
  })

  test.each([
    ['', 'Must not be empty'],
    [' secret', 'Must not start or end with spaces or line breaks'],
    ['secret\n', 'Must not start or end with spaces or line breaks'],
    ['x'.repeat(1025), 'Must be at most 1024 characters'],
  ])('that is certainly a mistake is rejected: %j', (secret, problem) => {
    expect(problems({ provider: 'github', secrets: ['fine', secret] })).toEqual([
      `signingSecret: ${problem}`,
    ])
  })

  test('is never quoted in a message', () => {
    const secrets = ['xoxb-7-unmistakable']
    expect(problems({ provider: 'slack', secrets }).join()).not.toContain('unmistakable')
  })

  test('is required if an algorithm is set', () => {
    expect(problems({ signingAlgorithm: 'github', secrets: [] })).toEqual([
      'signingSecret: Enter the secret that the sender signs with',
    ])
  })
})
