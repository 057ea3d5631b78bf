import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { defineConfig, type Plugin } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { bundledFile, bundleForBrowser } from './scripts/browser-bundle.mjs'
import { filesDirectory, readDirectoryFiles } from './scripts/directory-files.mjs'
import { bundleForThread, threadFile } from './scripts/thread-bundle.mjs'

/** Short files with many or slow tests. */
const LONG = /test\/conformance\/|crash\.test|test\/page\/|(?:cli|console)\/test\//

/** Records which functions run, see `packages/kit/src/testing/reached-functions.ts`. */
const COVERAGE = 'packages/*/test/**/seed-coverage.test.ts'

/** Without recorded durations vitest runs large files first, and a slow one might run alone at the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of the sequencer, not of an array
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => Number(LONG.test(moduleId))
    return sorted.toSorted((a, b) => isLong(b) - isLong(a))
  }
}

export default defineConfig({
  plugins: [
    texts('text-modules', textFile, (file) => readFile(file, 'utf8')),
    texts('browser-bundles', bundledFile, bundleForBrowser),
    texts('directory-files', filesDirectory, readDirectoryFiles),
    texts('thread-bundles', threadFile, bundleForThread),
  ],
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['packages/*/test/**/*.test.{ts,tsx}', 'deploy/test/*.test.ts'],
          exclude: [COVERAGE],
          // Loading the modules again for each of several hundred files would take as long as the tests.
          isolate: false,
          globalSetup: [
            'packages/kit/src/testing/temporary-files.ts',
            'packages/kit/src/testing/dynamodb-local.ts',
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'coverage',
          include: [COVERAGE],
          // V8 does not record calls of functions that ran before.
          isolate: true,
          globalSetup: ['packages/kit/src/testing/temporary-files.ts'],
        },
      },
    ],
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
    sequence: { sequencer: LongFirst },
    // Quick tests often wait for the disk and for other processes.
    maxWorkers: Math.ceil(availableParallelism() * (process.env['SLOW'] ? 1 : 1.5)),
    // Only for tests that hang: DynamoDB Local is slow on a busy machine.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
})

/**
 * Imports files as text, like `import … with { type: 'text' }` in the bundle. Matches file names,
 * because plugins do not get the attribute.
 */
function textFile(source: string, importer: string | undefined): string | undefined {
  if (importer === undefined || !/\.(?:css|svg|md|client\.js)$/.test(source)) return undefined
  return join(dirname(importer), source)
}

/**
 * Imports text that is generated from a file. The modules get names without an extension, because Vite
 * would treat them as style sheets or scripts.
 */
function texts(
  name: string,
  fileOf: (source: string, importer: string | undefined) => string | undefined,
  textOf: (file: string) => Promise<string>,
): Plugin {
  const prefix = `\0${name}:`
  return {
    name,
    enforce: 'pre',
    resolveId(source, importer) {
      const file = fileOf(source, importer)
      return file === undefined ? null : `${prefix}${Buffer.from(file).toString('base64url')}`
    },
    async load(id) {
      if (!id.startsWith(prefix)) return null
      const file = Buffer.from(id.slice(prefix.length), 'base64url').toString()
      return `export default ${JSON.stringify(await textOf(file))}`
    },
  }
}
