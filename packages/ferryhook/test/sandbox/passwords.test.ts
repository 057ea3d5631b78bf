import { setImmediate } from 'node:timers/promises'
import { compareSync, getRounds, hashSync } from 'bcryptjs'
import { afterAll, describe, expect, test } from 'vitest'
import { createPasswords, hashOfNobody, UnusablePassword } from '../../src/sandbox/passwords.ts'

// The least that bcrypt allows, for speed.
const passwords = createPasswords({ cost: 4 })
afterAll(() => passwords.close())

test('a password is right with its own hash alone', async () => {
  const hash = await passwords.hash('correct horse')
  expect(await passwords.verify('correct horse', hash)).toBe(true)
  expect(await passwords.verify('correct house', hash)).toBe(false)
  expect(await passwords.hash('correct horse')).not.toBe(hash)
})

test('what is stored is a plain bcrypt hash, which others make and check too', async () => {
  expect(compareSync('pässword', await passwords.hash('pässword'))).toBe(true)
  expect(await passwords.verify('pässword', hashSync('pässword', 4))).toBe(true)
})

test('the cost is 12 unless a test says otherwise', async () => {
  const slow = createPasswords()
  expect(await slow.hash('a')).toMatch(/^\$2b\$12\$/)
  await slow.close()
})

test('the same letters in other bytes are the same password', async () => {
  const hash = await passwords.hash('p\u00e4ssword')
  expect(await passwords.verify('pa\u0308ssword', hash)).toBe(true)
})

describe('a password of which bcrypt would read only the beginning', () => {
  const unusable = ['a'.repeat(73), 'ä'.repeat(37), 'a\0b']

  test.each(unusable)('is refused (%#)', async (password) => {
    await expect(passwords.hash(password)).rejects.toThrow(UnusablePassword)
  })

  test('is not right where its beginning is', async () => {
    const longest = 'a'.repeat(72)
    const hash = await passwords.hash(longest)
    expect(await passwords.verify(longest, hash)).toBe(true)
    expect(await passwords.verify(`${longest}b`, hash)).toBe(false)
    expect(await passwords.verify('a\0b', await passwords.hash('a'))).toBe(false)
  })

  test('is not the empty password', async () => {
    const hash = await passwords.hash('')
    expect(await passwords.verify('a'.repeat(73), hash)).toBe(false)
  })
})

test('without a hash nothing is right', async () => {
  expect(await passwords.verify('', undefined)).toBe(false)
})

test('that takes as much work as with one, and holds up nobody', async () => {
  expect(getRounds(hashOfNobody)).toBe(12)
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
