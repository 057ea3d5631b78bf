// Directories as data: `import files from './plugin?files'` is a JSON array of the directory's files
// (`{ name, base64 }`), sorted by name, without its tests. So an installed command has files that only a
// clone would have. scripts/build.mjs and vitest.config.ts both use this.
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

const SUFFIX = '?files'
/** Only needed for development. */
const TESTS = 'tests'

/**
 * The directory of a `?files` import; undefined for any other import.
 * @param {string} source
 * @param {string | undefined} importer
 */
export function filesDirectory(source, importer) {
  if (importer === undefined || !source.endsWith(SUFFIX)) return undefined
  return join(dirname(importer), source.slice(0, -SUFFIX.length))
}

/** @param {string} directory */
export async function readDirectoryFiles(directory) {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true })
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((name) => name.split('/')[0] !== TESTS)
    .toSorted()
  const files = names.map(async (name) => ({
    name,
    base64: await readFile(join(directory, name), 'base64'),
  }))
  return JSON.stringify(await Promise.all(files))
}

/** @returns {import('esbuild').Plugin} */
export function directoryFiles() {
  return {
    name: 'directory-files',
    setup(hooks) {
      hooks.onResolve({ filter: /\?files$/ }, ({ path, importer }) => ({
        path: filesDirectory(path, importer) ?? path,
        namespace: 'directory-files',
      }))
      hooks.onLoad({ filter: /.*/, namespace: 'directory-files' }, async ({ path }) => ({
        contents: await readDirectoryFiles(path),
        loader: 'text',
      }))
    },
  }
}
