import { setImmediate } from 'node:timers/promises'
import type { ApiError } from '@strongroom/kit/errors'
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

const OWNER = '203.0.113.7'

async function hashOf(password: string, hasher: PasswordHasher = passwords): Promise<string> {
  const result = await hasher.hash(password, OWNER)
  if (result.kind === 'invalid') throw new Error(result.message)
  return result.hash
}

test('a password matches only its own hash', async () => {
  const hash = await hashOf('correct horse')
  expect(await passwords.verify('correct horse', hash, OWNER)).toBe(true)
  expect(await passwords.verify('correct house', hash, OWNER)).toBe(false)
  expect(await hashOf('correct horse')).not.toBe(hash)
})

test('hashes are plain bcrypt, which other programs can create and verify', async () => {
  expect(compareSync('pässword', await hashOf('pässword'))).toBe(true)
  expect(await passwords.verify('pässword', hashSync('pässword', 4), OWNER)).toBe(true)
})

test('the cost defaults to 12', async () => {
  const slow = createPasswordHasher()
  expect(await hashOf('a', slow)).toMatch(/^\$2b\$12\$/)
  await slow.close()
})

test('a password matches in every Unicode encoding of its letters', async () => {
  const hash = await hashOf('p\u00e4ssword')
  expect(await passwords.verify('pa\u0308ssword', hash, OWNER)).toBe(true)
})

describe('a password that bcrypt would truncate', () => {
  const unusable = ['a'.repeat(73), 'ä'.repeat(37), 'a\0b']

  test.each(unusable)('is rejected (%#)', async (password) => {
    await expect(passwords.hash(password, OWNER)).resolves.toMatchObject({ kind: 'invalid' })
  })

  test('does not match the hash of its beginning', async () => {
    const longest = 'a'.repeat(72)
    const hash = await hashOf(longest)
    expect(await passwords.verify(longest, hash, OWNER)).toBe(true)
    expect(await passwords.verify(`${longest}b`, hash, OWNER)).toBe(false)
    expect(await passwords.verify('a\0b', await hashOf('a'), OWNER)).toBe(false)
  })

  test('does not match the empty password', async () => {
    const hash = await hashOf('')
    expect(await passwords.verify('a'.repeat(73), hash, OWNER)).toBe(false)
  })
})

test('without a hash no password matches', async () => {
  expect(await passwords.verify('', undefined, OWNER)).toBe(false)
})

test('verifying without a hash takes as long as with one and does not block the event loop', async () => {
  expect(getRounds(DUMMY_HASH)).toBe(12)
  const verifying = { isDone: false }
  const verified = passwords.verify('a', undefined, OWNER).finally(() => (verifying.isDone = true))
  let turns = 0
  while (!verifying.isDone) {
    await setImmediate()
    turns += 1
  }
  expect(await verified).toBe(false)
  expect(turns).toBeGreaterThan(100)
})

test('many passwords of one network fail no one else and wait for their turn', async () => {
  const hash = await hashOf('correct horse')
  const order: string[] = []
  const verify = (owner: string) =>
    passwords.verify('correct horse', hash, owner).then(
      () => void order.push(owner),
      (error: unknown) => (error as ApiError).code,
    )
  const flood = Array.from({ length: 60 }, () => verify('flood'))
  const others = Array.from({ length: 45 }, (_, n) => verify(`other ${n}`))
  expect(await Promise.all(others)).toEqual(others.map(() => undefined))
  const refused = (await Promise.all(flood)).filter((code) => code === 'server.unavailable')
  expect(refused.length).toBeGreaterThan(40)
  // After its second, the flood waits until each of the others had a turn.
  const positions = order.flatMap((owner, at) => (owner === 'flood' ? [at] : []))
  expect(positions[2]).toBeGreaterThan(order.indexOf('other 40'))
})
