/** Checks the layout that CONTRIBUTING.md describes. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const packages = fileURLToPath(new URL('../../', import.meta.url))
const SERVICES = ['sealed', 'ferryhook', 'form-bridge', 'key-store', 'two-key']
const ROOT_FILES = ['service.ts', 'start.ts', 'settings.ts', 'errors.ts', 'tables.ts']
const NOUN_FILES = ['item.ts', 'store.ts', 'service.ts', 'routes.ts', 'view.ts']
const MAX_FOLDER_DEPTH = 3
const MIN_LINES = 10

/** Folders of a service that are a process, a program or a mechanism instead of a noun with items and routes. */
const OTHER_FOLDERS = {
  sealed: ['abuse', 'cleanup', 'client', 'crypto', 'page'],
  ferryhook: [
    'accounts',
    'filters',
    'http',
    'mail',
    'outbound',
    'sandbox',
    'signing',
    'storage',
    'transforms',
    'verification',
    'worker',
  ],
  'form-bridge': ['security'],
  'key-store': ['aws', 'envelope'],
  'two-key': ['adapters', 'existence', 'fake-slack', 'payload'],
} as Record<string, string[]>

/** Files that are small for a reason. */
const SMALL_FILES = new Set([
  'cli/main.ts', // the entry, before anything else is loaded
  'engine/storage/conversions/list.ts', // grows with each format
  'ferryhook/accounts/sessions/password-thread.ts', // the entry of a worker thread
  'ferryhook/alerts/kinds.ts', // loaded by commands that must not load schemas
  'ferryhook/local-events.ts', // an interface between services that do not know each other
  'key-store/aws/library.ts', // an entry of the published package
  'kms/testing/cheap-passphrase.ts', // a constant for tests of other packages
  'sealed/page/mark.ts', // an SVG
  'server/version.ts', // loaded by commands that must not load anything else
])

/** Source files of a package, relative to its `src`. */
function sourceFiles(name: string): string[] {
  const src = join(packages, name, 'src')
  return readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(src, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
}

describe.each(SERVICES)('%s', (service) => {
  const files = sourceFiles(service)

  test('has the five root files of every service', () => {
    expect(files).toEqual(expect.arrayContaining(ROOT_FILES))
  })

  test('has only folders that are nouns, or listed as something else', () => {
    const folders = new Set(
      files.filter((file) => file.includes('/')).map((file) => file.split('/')[0]!),
    )
    const isNoun = (folder: string) =>
      NOUN_FILES.some((file) => files.includes(`${folder}/${file}`))
    const others = [...folders].filter((folder) => !isNoun(folder))
    expect(others.toSorted()).toEqual(
      (OTHER_FOLDERS[service] ?? []).filter((folder) => !isNoun(folder)),
    )
  })
})

describe.each(readdirSync(packages))('%s', (name) => {
  const files = sourceFiles(name)

  test('has no barrel files', () => {
    expect(files.filter((file) => /(?:^|\/)index\.tsx?$/.test(file))).toEqual([])
  })

  test('is at most three folders deep', () => {
    expect(files.filter((file) => file.split('/').length > MAX_FOLDER_DEPTH + 1)).toEqual([])
  })

  test('has no tiny files', () => {
    const isSmall = (file: string) =>
      readFileSync(join(packages, name, 'src', file), 'utf8').split('\n').length - 1 < MIN_LINES
    const mayBeSmall = (file: string) =>
      !/\.tsx?$/.test(file) ||
      file.endsWith('.d.ts') ||
      ROOT_FILES.includes(file) ||
      file.endsWith('/item.ts') ||
      // Entries of bundles.
      (name === 'lambda' && file.startsWith('handlers/')) ||
      SMALL_FILES.has(`${name}/${file}`)
    expect(files.filter((file) => !mayBeSmall(file) && isSmall(file))).toEqual([])
  })
})
