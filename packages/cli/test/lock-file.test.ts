import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface LockFile {
  packages: Record<string, { optionalDependencies?: Record<string, string> }>
}

// npm writes down only what it could fetch where it ran, and then refuses to install elsewhere.
test('the lock file names the packages of every platform', () => {
  const file = new URL('../../../package-lock.json', import.meta.url)
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as LockFile
  const locked = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)))
  const wanted = Object.values(packages).flatMap((each) =>
    Object.keys(each.optionalDependencies ?? {}),
  )
  expect(wanted).toContain('@rolldown/binding-darwin-arm64')
  expect(wanted.filter((name) => !locked.has(name))).toEqual([])
})
