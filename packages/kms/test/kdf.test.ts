import { expect, test } from 'vitest'
import { deriveKey } from '../src/kdf.ts'

const hex = (text: string) => Buffer.from(text, 'hex')

test('keys are derived as SP 800-108 has it, shown by a public vector of the hierarchical keyring', () => {
  const branchKey = hex('b49c1feb97a962f52de4732242c97fea396f2f14b4b6076322ebc5cb604b2308')
  const salt = hex('000102030405060708090a0b0c0d0e0f')
  expect(deriveKey(branchKey, 'aws-kms-hierarchy', salt).toString('hex')).toBe(
    'a48ad5c27413f5c5faee86fdf296d3b28cc1317a68e87119cf1f523e4b2a15e4',
  )
})
