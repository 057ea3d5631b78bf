import { describe, expect, test } from 'vitest'
import { fromItem, toItem } from '../../src/store/encrypted-key.ts'
import { BranchKeyItem } from '../../src/store/item.ts'
import { KMS_ARN, LOGICAL, newBranchKey } from '../support/branch-keys.ts'

const decryptOnly = {
  'branch-key-id': 'tenant-42',
  type: 'branch:version:6024b9a5-f9cd-44ec-9ba3-ebfba597d31b',
  enc: new Uint8Array(184),
  'kms-arn': KMS_ARN,
  'create-time': '2026-11-15T18:15:17.223123Z',
  'hierarchy-version': 1,
}
const active = { ...decryptOnly, type: 'branch:ACTIVE', version: decryptOnly.type }
const beacon = { ...decryptOnly, type: 'beacon:ACTIVE' }

const isValid = (item: object) => BranchKeyItem.safeParse(item).success
const wrongIn = (item: object) =>
  BranchKeyItem.safeParse(item).error?.issues.map(({ path }) => path.join('.'))
const without = (item: object, name: string) =>
  Object.fromEntries(Object.entries(item).filter(([each]) => each !== name))

describe('a branch key record', () => {
  test.each([
    ['a version', decryptOnly],
    ['the active version', active],
    ['the beacon key', beacon],
    ['custom encryption context', { ...active, 'aws-crypto-ec:department': 'admin' }],
    ['custom encryption context beyond ASCII', { ...active, 'aws-crypto-ec:ключ': 'значение 🔑' }],
    ['the empty name of custom encryption context', { ...active, 'aws-crypto-ec:': 'nameless' }],
    ['a foreign attribute that is a string', { ...active, note: 'KMS decides' }],
    ['the shortest enc', { ...active, enc: new Uint8Array(1) }],
    ['the longest enc', { ...active, enc: new Uint8Array(6144) }],
    ['the longest kms-arn', { ...active, 'kms-arn': 'a'.repeat(2048) }],
    ['a create-time as Java wrote it', { ...active, 'create-time': '2024-01-01T10:00:00:000358Z' }],
    ['an empty create-time', { ...active, 'create-time': '' }],
    ['another hierarchy-version', { ...active, 'hierarchy-version': 2 }],
    ['a version that is no UUID', { ...decryptOnly, type: 'branch:version:x' }],
  ])('is valid as %s', (_what, item) => {
    expect(wrongIn(item)).toBeUndefined()
    expect(isValid(item)).toBe(true)
  })

  // KS-29, KS-30, KS-32, KS-33, KS-34, KS-35
  test.each(['branch-key-id', 'type', 'enc', 'kms-arn', 'create-time', 'hierarchy-version'])(
    'needs its %s',
    (name) => {
      expect(wrongIn(without(decryptOnly, name))).toEqual([name])
    },
  )

  // KS-29, KS-30, KS-32, KS-33, KS-34, KS-35, KS-93, KS-94
  test.each([
    ['branch-key-id', 'empty', ''],
    ['branch-key-id', 'a number', 42],
    ['type', 'empty', ''],
    ['type', 'a number', 42],
    ['type', 'of no kind that is known', 'branch:MUTATION_INDEX'],
    ['type', 'the prefix of a version alone', 'branch:version:'],
    ['type', 'of another case', 'BRANCH:version:x'],
    ['create-time', 'a number', 4102444800],
    ['kms-arn', 'empty', ''],
    ['kms-arn', 'longer than 2,048 characters', 'a'.repeat(2049)],
    ['kms-arn', 'a number', 1],
    ['hierarchy-version', 'a string', '1'],
    ['enc', 'empty', new Uint8Array(0)],
    ['enc', 'longer than 6,144 bytes', new Uint8Array(6145)],
    ['enc', 'a string', 'AAAA'],
    ['tablename', 'there at all', LOGICAL],
    ['aws-crypto-ec:age', 'a number', 42],
    ['aws-crypto-ec:raw', 'bytes', new Uint8Array(4)],
    ['note', 'a boolean', true],
    ['note', 'a set', new Set(['a'])],
    ['constructor', 'a list', []],
    ['version', 'there on a version', 'branch:version:x'],
  ])('is not valid with a %s that is %s', (name, _what, value) => {
    expect(wrongIn({ ...decryptOnly, [name]: value })).toEqual([name])
  })

  // KS-31
  test('has a version if and only if it is the active one', () => {
    expect(wrongIn(without(active, 'version'))).toEqual(['version'])
    expect(wrongIn({ ...beacon, version: 'branch:version:x' })).toEqual(['version'])
    expect(wrongIn({ ...decryptOnly, version: 'branch:version:x' })).toEqual(['version'])
  })

  test.each(['', 'branch:version:', '6024b9a5-f9cd-44ec-9ba3-ebfba597d31b', 'branch:ACTIVE'])(
    'is not valid with the active version "%s"',
    (version) => {
      expect(wrongIn({ ...active, version })).toEqual(['version'])
    },
  )
})

describe('an encrypted key', () => {
  const custom = { 'aws-crypto-ec:department': 'admin', 'aws-crypto-ec:': '' }

  test.each(['version', 'active', 'beacon'] as const)('comes back from its item: %s', (part) => {
    const key = newBranchKey({ custom })[part]
    const item = toItem(key, LOGICAL)
    expect(isValid(item)).toBe(true)
    expect(fromItem(item, LOGICAL)).toEqual(key)
  })

  test('has the logical name in its context, which is not in its item', () => {
    const item = toItem(newBranchKey().active, LOGICAL)
    expect(Object.keys(item)).not.toContain('tablename')
    expect(fromItem(item, 'Other').encryptionContext).toMatchObject({ tablename: 'Other' })
  })

  // KS-93, KS-94, KS-95, KS-96, KS-97, KS-98, KS-99, KS-100
  test('has every attribute but enc in its context, as strings', () => {
    const item = { ...active, 'aws-crypto-ec:department': 'admin', note: 'foreign' }
    expect(fromItem(item, LOGICAL).encryptionContext).toEqual({
      'branch-key-id': 'tenant-42',
      type: 'branch:ACTIVE',
      version: 'branch:version:6024b9a5-f9cd-44ec-9ba3-ebfba597d31b',
      'create-time': '2026-11-15T18:15:17.223123Z',
      'hierarchy-version': '1',
      'kms-arn': KMS_ARN,
      'aws-crypto-ec:department': 'admin',
      note: 'foreign',
      tablename: LOGICAL,
    })
  })

  test.each([
    ['tablename', { tablename: 'Other' }],
    ['branch-key-id', { 'branch-key-id': 'other' }],
    ['type', { type: 'branch:version:other' }],
    ['version', { version: 'branch:version:other' }],
    ['create-time', { 'create-time': '1970-01-01T00:00:00.000000Z' }],
    ['kms-arn', { 'kms-arn': 'arn:aws:kms:us-west-2:111122223333:key/other' }],
    ['hierarchy-version', { 'hierarchy-version': '2' }],
    ['enc', { enc: 'in the context' }],
  ])('is not stored if its context says something else of %s', (attribute, wrong) => {
    const { active: key } = newBranchKey()
    const contradicting = { ...key, encryptionContext: { ...key.encryptionContext, ...wrong } }
    expect(() => toItem(contradicting, LOGICAL)).toThrow(
      expect.objectContaining({ name: 'EncryptedKeyMismatch', attribute }),
    )
  })
})
