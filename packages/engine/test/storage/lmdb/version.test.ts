import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

/** The version for which the uses of private parts of lmdb were last checked. */
const CHECKED_VERSION = '3.5.6'

test('the installed version of lmdb is the one whose private parts were checked', () => {
  const entry = createRequire(import.meta.url).resolve('lmdb')
  const manifest = readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8')
  const { version } = JSON.parse(manifest) as { version: string }
  expect(
    version,
    'lmdb was updated. Check resetTxn and interceptFailures in lmdb.ts and attemptToOpen in open-root.ts, then change this version.',
  ).toBe(CHECKED_VERSION)
})
