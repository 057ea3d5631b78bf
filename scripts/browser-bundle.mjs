// Browser scripts: `import script from './main.ts?bundle'` is the text of that module and all its
// imports, as one minified script. scripts/build.mjs and vitest.config.ts both use this.
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

const SUFFIX = '?bundle'

/**
 * The file of a `?bundle` import; undefined for any other import.
 * @param {string} source
 * @param {string | undefined} importer
 */
export function bundledFile(source, importer) {
  if (importer === undefined || !source.endsWith(SUFFIX)) return undefined
  return join(dirname(importer), source.slice(0, -SUFFIX.length))
}

/** @param {string} file */
export async function bundleForBrowser(file) {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    minify: true,
    charset: 'utf8',
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'warning',
  })
  return outputFiles.map(({ text }) => text).join('')
}

/** @returns {import('esbuild').Plugin} */
export function browserBundles() {
  return {
    name: 'browser-bundles',
    setup(hooks) {
      hooks.onResolve({ filter: /\?bundle$/ }, ({ path, importer }) => ({
        path: bundledFile(path, importer) ?? path,
        namespace: 'browser-bundle',
      }))
      hooks.onLoad({ filter: /.*/, namespace: 'browser-bundle' }, async ({ path }) => ({
        contents: await bundleForBrowser(path),
        loader: 'text',
      }))
    },
  }
}
