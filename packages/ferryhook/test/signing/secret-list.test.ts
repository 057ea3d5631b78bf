import { expect, test } from 'vitest'
import {
  activeSecrets,
  newSecretList,
  packSecrets,
  rotateSecret,
  unpackSecrets,
} from '../../src/signing/secret-list.ts'
import { required } from '../support/test-stores.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const HOUR = 3_600_000
/** For rotations that must succeed. */
const rotate = (...input: Parameters<typeof rotateSecret>) => required(rotateSecret(...input))
const overlap = (now: number, overlapSeconds = 7_200) => ({ now, overlapSeconds })

test('after a rotation both secrets are active, the new one first, until the overlap ends', () => {
  const list = rotate(newSecretList('old', NOW), 'new', overlap(NOW))
  expect(list).toEqual([
    { secret: 'new', createdAt: '2026-03-01T12:00:00.000Z' },
    { secret: 'old', createdAt: '2026-03-01T12:00:00.000Z', expiresAt: NOW / 1000 + 7_200 },
  ])
  expect(activeSecrets(list, NOW)).toEqual(['new', 'old'])
  expect(activeSecrets(list, NOW + 2 * HOUR - 1)).toEqual(['new', 'old'])
  expect(activeSecrets(list, NOW + 2 * HOUR)).toEqual(['new'])
  expect(activeSecrets(list, NOW + 1000 * HOUR)).toEqual(['new'])
})

test('a rotation without an overlap expires the others immediately', () => {
  const list = rotate(newSecretList('leaked', NOW), 'new', overlap(NOW, 0))
  expect(list.map(({ secret }) => secret)).toEqual(['new'])
})

test('a second rotation never extends the overlap of an old secret, and may shorten it', () => {
  const once = rotate(newSecretList('a', NOW), 'b', overlap(NOW))
  const later = NOW + HOUR
  const twice = rotate(once, 'c', overlap(later))
  expect(activeSecrets(twice, later)).toEqual(['c', 'b', 'a'])
  expect(activeSecrets(twice, NOW + 2 * HOUR)).toEqual(['c', 'b'])
  expect(activeSecrets(rotate(once, 'c', overlap(later, 60)), later + 60_000)).toEqual(['c'])
})

test('expired secrets are removed, and a repeated secret is in the list once, as the newest', () => {
  const once = rotate(newSecretList('a', NOW), 'b', overlap(NOW))
  const later = NOW + 3 * HOUR
  const twice = rotate(once, 'c', overlap(later))
  expect(twice.map(({ secret }) => secret)).toEqual(['c', 'b'])
  const back = rotate(twice, 'b', overlap(later))
  expect(back).toMatchObject([{ secret: 'b' }, { secret: 'c' }])
  expect(back[0]).not.toHaveProperty('expiresAt')
})

test('at most five secrets are active, and none is removed to make room', () => {
  let list = newSecretList('0', NOW)
  for (const secret of ['1', '2', '3', '4']) list = rotate(list, secret, overlap(NOW))
  expect(activeSecrets(list, NOW)).toHaveLength(5)
  expect(rotateSecret(list, '5', overlap(NOW))).toBeUndefined()
  expect(activeSecrets(rotate(list, '5', overlap(NOW, 0)), NOW)).toEqual(['5'])
})

test('a list fits into its attribute when sealed, whatever the secrets are made of', () => {
  const long = (fill: string) => fill.repeat(1_024)
  let list = newSecretList(long('ä'), NOW)
  list = rotate(list, long('ö'), overlap(NOW))
  const fits = ['ü', '語', 'ж'].every((fill) => {
    const rotated = rotateSecret(list, long(fill), overlap(NOW))
    list = rotated ?? list
    return rotated !== undefined
  })
  expect(fits).toBe(false)
  expect(Buffer.byteLength(packSecrets(list))).toBeLessThan(8_193)
})

test('a list survives packing and unpacking', () => {
  const list = rotate(newSecretList('a', NOW), 'b', overlap(NOW))
  expect(unpackSecrets(packSecrets(list))).toEqual(list)
})

test('a text that is not a list is rejected without being quoted', () => {
  for (const text of ['', '[]', '{"secret":"s3cret"}', '["s3cret"]', '[{"secret":""}]', 's3cret']) {
    expect(() => unpackSecrets(text)).toThrow(/^Not a list of secrets$/)
  }
  expect(() => packSecrets(newSecretList('', NOW))).toThrow(/^Not a list of secrets$/)
})
