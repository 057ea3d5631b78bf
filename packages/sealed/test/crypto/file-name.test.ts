import { expect, test } from 'vitest'
import { sanitizeFileName } from '../../src/crypto/file-name.ts'

test.each([
  ['report.pdf', 'report.pdf'],
  ['.env', '.env'],
  ['秘密 👩‍👧.txt', '秘密 👩‍👧.txt'],
  ['../../x', '.._.._x'],
  ['C:\\Windows\\x.dll', 'C:_Windows_x.dll'],
  ['a\u202egnp.exe', 'a_gnp.exe'],
  ['a\u2066b\u061cc\u200f.txt', 'a_b_c_.txt'],
  ['a\u0000b\r\nc\u007f\u0085.txt', 'a_b__c__.txt'],
  ['a\u2028b\u2029c', 'a_b_c'],
  ['half \ud83d.txt', 'half _.txt'],
  ['  spaces.txt ', 'spaces.txt'],
  ['', 'file'],
  ['   ', 'file'],
  ['.', 'file'],
  ['..', 'file'],
  ['n'.repeat(255), 'n'.repeat(255)],
  ['n'.repeat(256), 'n'.repeat(255)],
  [`${'n'.repeat(252)}.pem`, `${'n'.repeat(251)}.pem`],
  [`${'n'.repeat(254)} n`, 'n'.repeat(254)],
  ['.'.repeat(255) + 'n'.repeat(40), 'file'],
  // Three bytes each; no character is cut.
  ['秘'.repeat(86), '秘'.repeat(85)],
  [`${'秘'.repeat(86)}.p12`, `${'秘'.repeat(83)}.p12`],
])('the name %j becomes %j', (name, expected) => {
  expect(sanitizeFileName(name)).toBe(expected)
  expect(sanitizeFileName(expected)).toBe(expected)
  expect(Buffer.byteLength(expected)).toBeLessThanOrEqual(255)
})
