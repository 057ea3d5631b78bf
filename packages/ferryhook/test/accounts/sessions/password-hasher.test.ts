import { setImmediate } from 'node:timers/promises'
import { compareSync, getRounds, hashSync } from 'bcryptjs'
import { afterAll, describe, expect, test } from 'vitest'
import {
  createPasswordHasher,
  DUMMY_HASH,
  type PasswordHasher,
} from '../../../src/accounts/sessions/password-hasher.ts'

// The minimum of bcrypt, for speed.
const passwords = createPasswordHasher({ cost: 4 })
afterAll(() => passwords.close())

async function hashOf(password: string, hasher: PasswordHasher = passwords): Promise<string> {
  const result = await hasher.hash(password)
  if (result.kind === 'invalid') throw new Error(result.message)
  return result.hash
}

test('a password matches only its own hash', async () => {
  const hash = await hashOf('correct horse')
  expect(await passwords.verify('correct horse', hash)).toBe(true)
  expect(await passwords.verify('correct house', hash)).toBe(false)
  expect(await hashOf('correct horse')).not.toBe(hash)
})

test('hashes are plain bcrypt, which other programs can create and verify', async () => {
  expect(compareSync('pässword', await hashOf('pässword'))).toBe(true)
  expect(await passwords.verify('pässword', hashSync('pässword', 4))).toBe(true)
})

test('the cost defaults to 12', async () => {
  const slow = createPasswordHasher()
  expect(await hashOf('a', slow)).toMatch(/^\$2b\$12\$/)
  await slow.close()
})

test('a password matches in every Unicode encoding of its letters', async () => {
  const hash = await hashOf('p\u00e4ssword')
  expect(await passwords.verify('pa\u0308ssword', hash)).toBe(true)
})

describe('a password that bcrypt would truncate', () => {
  const unusable = ['a'.repeat(73), 'ä'.repeat(37), 'a\0b']

  test.each(unusable)('is rejected (%#)', async (password) => {
    await expect(passwords.hash(password)).resolves.toMatchObject({ kind: 'invalid' })
  })

  test('does not match the hash of its beginning', async () => {
    const longest = 'a'.repeat(72)
    const hash = await hashOf(longest)
    expect(await passwords.verify(longest, hash)).toBe(true)
    expect(await passwords.verify(`${longest}b`, hash)).toBe(false)
    expect(await passwords.verify('a\0b', await hashOf('a'))).toBe(false)
  })

  test('does not match the empty password', async () => {
    const hash = await hashOf('')
    expect(await passwords.verify('a'.repeat(73), hash)).toBe(false)
  })
})

test('without a hash no password matches', async () => {
  expect(await passwords.verify('', undefined)).toBe(false)
})

test('verifying without a hash takes as long as with one and does not block the event loop', async () => {
  expect(getRounds(DUMMY_HASH)).toBe(12)
  const verifying = { isDone: false }
  const verified = passwords.verify('a', undefined).finally(() => (verifying.isDone = true))
  let turns = 0
  while (!verifying.isDone) {
    await setImmediate()
    turns += 1
  }
  expect(await verified).toBe(false)
  expect(turns).toBeGreaterThan(100)
})
