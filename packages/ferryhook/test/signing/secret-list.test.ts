import { expect, test } from 'vitest'
import {
  activeSecrets,
  firstSecret,
  packSecrets,
  rotateSecret,
  TooManySecrets,
  unpackSecrets,
} from '../../src/signing/secret-list.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const HOUR = 3_600_000
const overlap = (now: number, overlapSeconds = 7_200) => ({ now, overlapSeconds })

test('after a rotation both secrets are in force, the new one first, until the overlap ends', () => {
  const list = rotateSecret(firstSecret('old', NOW), 'new', overlap(NOW))
  expect(list).toEqual([
    { secret: 'new', createdAt: '2026-03-01T12:00:00.000Z' },
    { secret: 'old', createdAt: '2026-03-01T12:00:00.000Z', expiresAt: NOW / 1000 + 7_200 },
  ])
  expect(activeSecrets(list, NOW)).toEqual(['new', 'old'])
  expect(activeSecrets(list, NOW + 2 * HOUR - 1)).toEqual(['new', 'old'])
  expect(activeSecrets(list, NOW + 2 * HOUR)).toEqual(['new'])
  expect(activeSecrets(list, NOW + 1000 * HOUR)).toEqual(['new'])
})

test('a rotation without an overlap ends the others at once', () => {
  const list = rotateSecret(firstSecret('leaked', NOW), 'new', overlap(NOW, 0))
  expect(list.map(({ secret }) => secret)).toEqual(['new'])
})

test('a second rotation never gives an old secret more time, and may take it', () => {
  const once = rotateSecret(firstSecret('a', NOW), 'b', overlap(NOW))
  const later = NOW + HOUR
  const twice = rotateSecret(once, 'c', overlap(later))
  expect(activeSecrets(twice, later)).toEqual(['c', 'b', 'a'])
  expect(activeSecrets(twice, NOW + 2 * HOUR)).toEqual(['c', 'b'])
  expect(activeSecrets(rotateSecret(once, 'c', overlap(later, 60)), later + 60_000)).toEqual(['c'])
})

test('what has expired is dropped, and a secret given again is there once, as the newest', () => {
  const once = rotateSecret(firstSecret('a', NOW), 'b', overlap(NOW))
  const later = NOW + 3 * HOUR
  const twice = rotateSecret(once, 'c', overlap(later))
  expect(twice.map(({ secret }) => secret)).toEqual(['c', 'b'])
  const back = rotateSecret(twice, 'b', overlap(later))
  expect(back).toMatchObject([{ secret: 'b' }, { secret: 'c' }])
  expect(back[0]).not.toHaveProperty('expiresAt')
})

test('five secrets are in force at most, and nothing is dropped to make room', () => {
  let list = firstSecret('0', NOW)
  for (const secret of ['1', '2', '3', '4']) list = rotateSecret(list, secret, overlap(NOW))
  expect(activeSecrets(list, NOW)).toHaveLength(5)
  expect(() => rotateSecret(list, '5', overlap(NOW))).toThrow(TooManySecrets)
  expect(activeSecrets(rotateSecret(list, '5', overlap(NOW, 0)), NOW)).toEqual(['5'])
})

test('a list fits into its attribute when sealed, whatever the secrets are made of', () => {
  const long = (fill: string) => fill.repeat(1_024)
  let list = firstSecret(long('ä'), NOW)
  list = rotateSecret(list, long('ö'), overlap(NOW))
  expect(() => {
    for (const fill of ['ü', '語', 'ж']) list = rotateSecret(list, long(fill), overlap(NOW))
  }).toThrow(TooManySecrets)
  expect(Buffer.byteLength(packSecrets(list))).toBeLessThan(8_193)
})

test('a list comes back from its text as it was', () => {
  const list = rotateSecret(firstSecret('a', NOW), 'b', overlap(NOW))
  expect(unpackSecrets(packSecrets(list))).toEqual(list)
})

test('a text that is no list is refused without being shown', () => {
  for (const text of ['', '[]', '{"secret":"s3cret"}', '["s3cret"]', '[{"secret":""}]', 's3cret']) {
    expect(() => unpackSecrets(text)).toThrow(/^This is not a list of secrets$/)
  }
  expect(() => packSecrets(firstSecret('', NOW))).toThrow(/^This is not a list of secrets$/)
})
