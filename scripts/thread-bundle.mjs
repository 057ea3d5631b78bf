// Code of worker threads: `import code from './thread.ts?thread'` is the text of that module and all
// its imports, for `new Worker(code, { eval: true })`. So a thread needs no file of its own, neither in
// the bundle nor in tests. scripts/build.mjs and vitest.config.ts both use this.
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

const SUFFIX = '?thread'

/**
 * The file of a `?thread` import; undefined for any other import.
 * @param {string} source
 * @param {string | undefined} importer
 */
export function threadFile(source, importer) {
  if (importer === undefined || !source.endsWith(SUFFIX)) return undefined
  return join(dirname(importer), source.slice(0, -SUFFIX.length))
}

/** @param {string} file */
export async function bundleForThread(file) {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    minify: true,
    charset: 'utf8',
    // Evaluated code is not a module and has no URL.
    format: 'cjs',
    define: { 'import.meta.url': '"file:///thread.js"' },
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
  })
  return outputFiles.map(({ text }) => text).join('')
}

/** @returns {import('esbuild').Plugin} */
export function threadBundles() {
  return {
    name: 'thread-bundles',
    setup(hooks) {
      hooks.onResolve({ filter: /\?thread$/ }, ({ path, importer }) => ({
        path: threadFile(path, importer) ?? path,
        namespace: 'thread-bundle',
      }))
      hooks.onLoad({ filter: /.*/, namespace: 'thread-bundle' }, async ({ path }) => ({
        contents: await bundleForThread(path),
        loader: 'text',
      }))
    },
  }
}
