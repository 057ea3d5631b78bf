import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { twoKeyError } from '../src/errors.ts'

test('a test of the service asserts every error code of the catalogue', () => {
  const text = ['apps', 'installations', 'requests', 'tokens']
    .map((folder) => join(import.meta.dirname, folder))
    .flatMap((folder) =>
      readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8')),
    )
    .join('')
  const missing = twoKeyError.catalogue.filter(({ code }) => !text.includes(code))
  expect(missing).toEqual([])
})
