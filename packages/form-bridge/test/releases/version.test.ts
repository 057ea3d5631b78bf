import { expect, test } from 'vitest'
import { compareVersions } from '../../src/releases/version.ts'

// Examples of the PHP manual for version_compare.
test.each([
  ['1.0.0', '1.0.0', 0],
  ['1.2.0', '1.10.0', -1],
  ['1.0', '1.0.0', -1],
  ['1.0.0-dev', '1.0.0-alpha', -1],
  ['1.0.0-alpha1', '1.0.0-beta', -1],
  ['1.0.0-beta2', '1.0.0-beta10', -1],
  ['1.0.0-rc.1', '1.0.0', -1],
  ['1.0.0', '1.0.0-pl1', -1],
  ['1.0.0-unknown', '1.0.0-dev', -1],
  ['6.8.12', '6.8.2', 1],
  ['2.0.0', '10.0.0', -1],
])('%s compared with %s', (left, right, order) => {
  expect(Math.sign(compareVersions(left, right))).toBe(order)
  expect(Math.sign(compareVersions(right, left))).toBe(order === 0 ? 0 : -order)
})
