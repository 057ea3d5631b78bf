import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { makeDirectory, syncDirectory } from '../src/durable-directory.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'strongroom-durable-'))
})

describe('makeDirectory', () => {
  test('creates all missing parents, private, and returns the topmost one', () => {
    const deep = join(directory, 'a', 'b', 'c')
    expect(makeDirectory(deep)).toBe(join(directory, 'a'))
    for (const made of ['a', 'a/b', 'a/b/c']) {
      expect(statSync(join(directory, made)).mode & 0o777).toBe(0o700)
    }
    expect(makeDirectory(deep)).toBeUndefined()
    expect(makeDirectory(join(deep, 'd'))).toBe(join(deep, 'd'))
  })

  test('fails if a file is in the way', () => {
    const file = join(directory, 'file')
    writeFileSync(file, '')
    expect(() => makeDirectory(file)).toThrow('EEXIST')
    expect(() => makeDirectory(join(file, 'below'))).toThrow('EEXIST')
  })
})

describe('syncDirectory', () => {
  test('fails for a directory that does not exist', () => {
    expect(() => syncDirectory(join(directory, 'missing'))).toThrow('ENOENT')
  })

  test.runIf(process.seteuid)('accepts a directory that this user may enter but not read', () => {
    // Not in the temporary directory of tests, which other users cannot reach.
    const closed = mkdtempSync('/tmp/strongroom-closed-')
    onTestFinished(() => rmSync(closed, { recursive: true }))
    chmodSync(closed, 0o333)
    const us = process.geteuid?.() ?? 0
    // Root can read everything, so the test switches to another user.
    if (us === 0) process.seteuid?.(65_534)
    try {
      expect(makeDirectory(join(closed, 'new'))).toBe(join(closed, 'new'))
    } finally {
      if (us === 0) process.seteuid?.(us)
    }
  })
})
