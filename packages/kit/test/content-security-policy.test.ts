import { describe, expect, test } from 'vitest'
import { hashSource, pagePolicy } from '../src/http/content-security-policy.ts'

describe('the policy of a page', () => {
  test('allows nothing that is not named', () => {
    expect(pagePolicy({})).toBe(
      "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    )
  })

  test('allows exactly the named sources', () => {
    const policy = pagePolicy({
      scripts: ["'self'", "'nonce-MDEyMzQ1Njc4OWFiY2RlZg=='"],
      styles: [hashSource('body{margin:0}')],
      images: ["'self'", 'data:'],
      connect: ['https://api.example/v1/'],
      forms: ["'self'"],
      trustedTypes: ['strongroom'],
    })
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self' 'nonce-MDEyMzQ1Njc4OWFiY2RlZg=='",
      "style-src 'sha256-IAdwN3biDCQ3brrgp1m8kBEsPQYyqfREKOEfeoREopc='",
      "img-src 'self' data:",
      'connect-src https://api.example/v1/',
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      'trusted-types strongroom',
    ])
  })

  test.each([
    "'unsafe-inline'",
    "'unsafe-eval'",
    '*',
    'https:',
    'https://*.example',
    'data:',
    'http://a.example',
    "'self'; script-src *",
    "'nonce-short'",
  ])('cannot allow %s', (source) => {
    expect(() => pagePolicy({ scripts: [source] })).toThrow('Cannot allow')
  })

  test('cannot be broken out of by a name of a Trusted Types policy', () => {
    expect(() => pagePolicy({ trustedTypes: ['a; script-src *'] })).toThrow('Cannot allow')
  })
})
