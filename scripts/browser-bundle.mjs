// Browser scripts. `import script from './main.ts?bundle'` is the text of that module and all its
// imports, as one minified script. `import site from './main.tsx?site'` is a JSON array of files
// (`{ name, text }`): the entry, its style sheet, and the chunks that it loads when it needs them.
// scripts/build.mjs and vitest.config.ts both use this.
import { basename, dirname, join } from 'node:path'
import { build } from 'esbuild'

const BUNDLE = '?bundle'
const SITE = '?site'

/**
 * The file of a `?bundle` or `?site` import, with that suffix; undefined for any other import.
 * @param {string} source
 * @param {string | undefined} importer
 */
export function bundledFile(source, importer) {
  if (importer === undefined) return undefined
  if (!source.endsWith(BUNDLE) && !source.endsWith(SITE)) return undefined
  return join(dirname(importer), source)
}

/** @type {import('esbuild').BuildOptions} */
const common = {
  bundle: true,
  write: false,
  minify: true,
  charset: 'utf8',
  platform: 'browser',
  target: 'es2022',
  logLevel: 'warning',
}

/** @param {string} file what `bundledFile` returned */
export async function bundleForBrowser(file) {
  if (file.endsWith(SITE)) return bundleSite(file.slice(0, -SITE.length))
  const entry = file.slice(0, -BUNDLE.length)
  const { outputFiles } = await build({
    ...common,
    write: false,
    entryPoints: [entry],
    format: 'iife',
  })
  return outputFiles.map(({ text }) => text).join('')
}

/** @param {string} entry */
async function bundleSite(entry) {
  const { outputFiles } = await build({
    ...common,
    write: false,
    entryPoints: [entry],
    outdir: '/',
    format: 'esm',
    splitting: true,
    legalComments: 'none',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
  })
  return JSON.stringify(outputFiles.map(({ path, text }) => ({ name: basename(path), text })))
}

/** @returns {import('esbuild').Plugin} */
export function browserBundles() {
  return {
    name: 'browser-bundles',
    setup(hooks) {
      hooks.onResolve({ filter: /\?(?:bundle|site)$/ }, ({ path, importer }) => ({
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
