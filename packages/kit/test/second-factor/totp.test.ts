import { describe, expect, test } from 'vitest'
import { hashRecoveryCode, newRecoveryCodes } from '../../src/second-factor/recovery-codes.ts'
import {
  findTotpStep,
  toBase32,
  totpCode,
  totpStep,
  totpUri,
} from '../../src/second-factor/totp.ts'

const secret = Buffer.from('12345678901234567890')

describe('codes of an authenticator app', () => {
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at second %d are those of RFC 6238, appendix B', (second, code) => {
    expect(totpCode(secret, totpStep(second * 1000))).toBe(code)
  })

  test('are accepted one step early and one step late, and not beyond', () => {
    const nowMs = 1_234_567_890_000
    const current = totpStep(nowMs)
    const found = [-2, -1, 0, 1, 2].map((drift) =>
      findTotpStep(secret, totpCode(secret, current + drift), { nowMs, lastStep: 0 }),
    )
    expect(found).toEqual([undefined, current - 1, current, current + 1, undefined])
  })

  test('are refused once a code of the same or a later step was accepted', () => {
    const nowMs = 1_234_567_890_000
    const current = totpStep(nowMs)
    const code = totpCode(secret, current)
    expect(findTotpStep(secret, code, { nowMs, lastStep: current })).toBeUndefined()
    expect(findTotpStep(secret, code, { nowMs, lastStep: current + 1 })).toBeUndefined()
    expect(findTotpStep(secret, code, { nowMs, lastStep: current - 1 })).toBe(current)
  })

  test.each(['', '28708', '2870820', 'abcdef', '28708２', ' 287082'])(
    'have six digits, unlike "%s"',
    (code) => {
      expect(findTotpStep(secret, code, { nowMs: 59_000, lastStep: 0 })).toBeUndefined()
    },
  )

  test('come from a secret that apps read from a QR code', () => {
    expect(toBase32(secret)).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
    expect(totpUri(secret, 'Strongroom', 'ada@example.com')).toBe(
      'otpauth://totp/Strongroom:ada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Strongroom&algorithm=SHA1&digits=6&period=30',
    )
  })
})

describe('recovery codes', () => {
  test('are ten different ones with 80 bits each', () => {
    const { codes, hashes } = newRecoveryCodes('ada')
    expect(new Set(codes).size).toBe(10)
    expect(new Set(hashes).size).toBe(10)
    for (const code of codes)
      expect(code).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/)
  })

  test('are recognized in the way people type them', () => {
    const { codes, hashes } = newRecoveryCodes('ada')
    const [code = ''] = codes
    const typed = [
      code,
      code.toLowerCase(),
      code.replaceAll('-', ''),
      ` ${code.replaceAll('-', ' ')} `,
      code.replaceAll('0', 'O').replaceAll('1', 'l'),
    ]
    for (const each of typed) expect(hashRecoveryCode('ada', each)).toBe(hashes[0])
  })

  test('of one person have another hash than the same ones of another person', () => {
    const code = 'ABCD-EFGH-JKMN-PQRS'
    expect(hashRecoveryCode('ada', code)).not.toBe(hashRecoveryCode('bob', code))
  })

  test.each(['', '123456', 'ABCD-EFGH-JKMN-PQR', 'ABCD-EFGH-JKMN-PQRST', 'ÄBCD-EFGH-JKMN-PQRS'])(
    'have a form that "%s" does not have',
    (typed) => {
      expect(hashRecoveryCode('ada', typed)).toBeUndefined()
    },
  )
})
