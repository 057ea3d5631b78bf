import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

/** The version for which the uses of private parts of lmdb were last checked. */
const CHECKED_VERSION = '3.5.6'

/** What the types of lmdb do not promise, and where it is used. */
const PRIVATE_PARTS: Record<string, readonly string[]> = {
  nativeAddon: ['lmdb.ts', 'native.ts', 'open-root.ts', 'presence.ts'],
  resetTxn: ['lmdb.ts', 'native.ts', 'presence.ts'],
  'Env: { prototype': ['native.ts'],
  "defineProperty(prototype, 'path'": ['open-root.ts'],
  startWriting: ['lmdb.ts'],
  ensureReadTxn: ['lmdb.ts'],
  readerList: ['presence.ts', 'unused-space.ts'],
  refCount: ['lmdb.ts'],
  copyBuffers: ['lmdb.ts'],
  'begin-transaction': ['lmdb.ts'],
  // The format of the data file, which checks read without LMDB.
  '0xbeefc0de': ['page-format.ts'],
}

const source = new URL('../../../src/', import.meta.url)
const advice = Object.entries(PRIVATE_PARTS)
  .map(([part, files]) => `${part} in ${files.join(', ')}`)
  .join('; ')

function filesWith(part: string): string[] {
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .filter((name) => readFileSync(new URL(name, source), 'utf8').includes(part))
    .map((name) => name.replaceAll('\\', '/'))
    .toSorted()
}

describe('lmdb', () => {
  test('is installed in the version whose private parts were checked', () => {
    const entry = createRequire(import.meta.url).resolve('lmdb')
    const manifest = readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8')
    const { version } = JSON.parse(manifest) as { version: string }
    const message = `lmdb was updated. Check these parts in src/storage/lmdb, then change this version: ${advice}`
    expect(version, message).toBe(CHECKED_VERSION)
  })

  test('is required in exactly that version', () => {
    const manifest = readFileSync(new URL('../package.json', source), 'utf8')
    const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> }
    expect(dependencies['lmdb']).toBe(CHECKED_VERSION)
  })

  test.each(Object.entries(PRIVATE_PARTS))('has its private %s used in %j only', (part, files) => {
    expect(filesWith(part)).toEqual(files.map((file) => `storage/lmdb/${file}`))
  })
})
