import { sign, verify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { deriveTokenKey } from '../../../src/accounts/sessions/access-tokens.ts'

const secret = (byte: number) => new Uint8Array(32).fill(byte)
const jwkOf = (byte: number) => deriveTokenKey(secret(byte)).privateKey.export({ format: 'jwk' })

describe('the key of access tokens', () => {
  test('is derived from the server secret: the same for the same secret, another for another', () => {
    expect(jwkOf(1)).toEqual(jwkOf(1))
    const scalars = Array.from({ length: 50 }, (_, byte) => jwkOf(byte).d)
    expect(new Set(scalars).size).toBe(50)
  })

  test('is a P-256 key and not the server secret itself', () => {
    const jwk = jwkOf(7)
    expect(jwk).toMatchObject({ kty: 'EC', crv: 'P-256' })
    expect(jwk.d).not.toBe(Buffer.from(secret(7)).toString('base64url'))
  })

  test('verifies with its public half what its private half signed, and nothing else', () => {
    const { privateKey, publicKey } = deriveTokenKey(secret(3))
    const message = Buffer.from('who I am')
    const signature = sign('sha256', message, privateKey)
    expect(verify('sha256', message, publicKey, signature)).toBe(true)
    expect(verify('sha256', message, deriveTokenKey(secret(4)).publicKey, signature)).toBe(false)
    expect(publicKey.type).toBe('public')
  })
})
