import { describe, expect, test } from 'vitest'
import { checkDomainName } from '../../src/validations/checks.ts'
import { type Checks, SCORE_TABLE, scoreChecks } from '../../src/validations/score.ts'

/** All checks with the same result. */
const all = (passed: boolean) =>
  Object.fromEntries(
    Object.entries(SCORE_TABLE).map(([category, { points }]) => [
      category,
      Object.fromEntries(Object.keys(points).map((name) => [name, passed])),
    ]),
  ) as Checks

describe('the score', () => {
  test('is 100 if all checks pass and 0 if none does', () => {
    expect(scoreChecks(all(true), 'strict')).toMatchObject({
      validation_score: 100,
      passes_validation: true,
    })
    expect(scoreChecks(all(false), 'basic')).toMatchObject({
      validation_score: 0,
      passes_validation: false,
    })
  })

  test('has categories of 100 points each, with the weights of the table', () => {
    for (const { points } of Object.values(SCORE_TABLE)) {
      expect(Object.values(points).reduce<number>((sum, each) => sum + each, 0)).toBe(100)
    }
    const dnsOnly = { ...all(false), dns_checks: all(true).dns_checks }
    expect(scoreChecks(dnsOnly, 'basic').validation_score).toBe(Math.floor(150 / 8.8))
  })

  test('passes at 40, 60 and 80', () => {
    const some = {
      ...all(false),
      wordpress_checks: all(true).wordpress_checks,
      abuse_checks: all(true).abuse_checks,
    }
    const withDns = { ...some, dns_checks: all(true).dns_checks }
    const nearly = {
      ...withDns,
      http_checks: all(true).http_checks,
      security_checks: all(true).security_checks,
    }
    const passes = (checks: Checks) =>
      (['basic', 'standard', 'strict'] as const).map(
        (level) => scoreChecks(checks, level).passes_validation,
      )
    expect(passes(some)).toEqual([true, false, false])
    expect(passes(withDns)).toEqual([true, true, false])
    expect(passes(nearly)).toEqual([true, true, true])
  })
})

test('the name of a staging or test site costs no points, and a reserved or blocked name does', () => {
  const points = (host: string) => Object.values(checkDomainName(host)).filter(Boolean).length
  for (const host of [
    'staging.client.com',
    'dev.shop.org',
    'test.client.co.uk',
    'xn--mnchen-3ya.de',
  ]) {
    expect([host, points(host)]).toEqual([host, 4])
  }
  for (const host of ['localhost', 'example.com', 'shop.local', '192.0.2.1', 'fake.shop.org']) {
    expect(points(host)).toBeLessThan(4)
  }
})
