// Bundles the command line and the server into dist/, because Node 20 cannot run TypeScript.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isMain, root } from './root.mjs'

const entry = join(root, 'packages/cli/src/main.ts')
const bundle = join(root, 'dist/strongroom.js')

/** Whether a source, a script or the lock file is newer than the bundle, or another file made of them. */
export function isStale(file = bundle) {
  if (!existsSync(file)) return true
  const built = statSync(file).mtimeMs
  const packages = readdirSync(join(root, 'packages'))
  return [
    'package-lock.json',
    'scripts',
    'docs',
    'plugins',
    ...packages.map((name) => `packages/${name}/src`),
  ].some((source) => hasNewer(join(root, source), built))
}

/**
 * Stops at the first one, and runs before every command of a clone: with recursion and path objects
 * of Node's own, it takes twice as long.
 * @param {string} path
 * @param {number} built
 * @returns {boolean}
 */
function hasNewer(path, built) {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return false
  if (!found.isDirectory()) return found.mtimeMs > built
  return readdirSync(path).some((name) => hasNewer(`${path}/${name}`, built))
}

export async function build() {
  await bundleCommand(join(root, 'dist'), { isPublished: false })
  removeOldChunks()
}

/**
 * Returns the files that went into the bundle.
 * @param {string} directory
 * @param {{ isPublished: boolean }} options
 */
export async function bundleCommand(directory, { isPublished }) {
  const { build: esbuild } = await import('esbuild')
  const { browserBundles } = await import('./browser-bundle.mjs')
  const { directoryFiles } = await import('./directory-files.mjs')
  const { textFiles } = await import('./text-files.mjs')
  const { threadBundles } = await import('./thread-bundle.mjs')
  const { unusedModules } = await import('./unused-modules.mjs')
  const { longTexts, withoutOtherCommands } = await import('./compiled-program.mjs')
  const texts = [browserBundles(), directoryFiles(), threadBundles()]
  /** @satisfies {import('esbuild').BuildOptions} */
  const common = {
    outdir: directory,
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    // Native addons cannot be bundled.
    external: ['lmdb'],
    metafile: true,
    logLevel: 'warning',
  }
  const compiled = await esbuild({
    ...common,
    entryPoints: { program: join(root, 'packages/cli/src/program.ts') },
    entryNames: '[name]-[hash]',
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    plugins: [
      ...[...texts, longTexts()].map((plugin) => textFiles(plugin, directory, './chunks/')),
      unusedModules(),
      withoutOtherCommands(),
    ],
    // The parameters of the function that `compiled-program.ts` calls.
    banner: { js: '(function (require, module, moduleUrl) {' },
    footer: { js: '})' },
    define: { 'import.meta.url': 'moduleUrl' },
    supported: { 'dynamic-import': false },
    legalComments: 'none',
    minifySyntax: true,
    minifyWhitespace: true,
    // Node prints the line of an uncaught error.
    lineLimit: 200,
  })
  const [compiledFile = ''] = Object.keys(compiled.metafile.outputs)
  const { metafile } = await esbuild({
    ...common,
    entryPoints: { strongroom: entry },
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    format: 'esm',
    plugins: [...texts.map((plugin) => textFiles(plugin, directory, './')), unusedModules()],
    define: { COMPILED_PROGRAM: JSON.stringify(`./${basename(compiledFile)}`) },
    ...(isPublished
      ? { legalComments: 'none', minifySyntax: true, minifyWhitespace: true }
      : { sourcemap: 'linked', sourcesContent: false }),
    // Some dependencies are CommonJS and call require for Node's own modules.
    banner: {
      js: "import { createRequire as nodeRequire } from 'node:module'; const require = nodeRequire(import.meta.url);",
    },
  })
  return Object.keys(metafile.inputs)
}

/** Keeps old chunks, because a running server may still load chunks of its own build. */
const KEPT_MS = 7 * 86_400_000

function removeOldChunks() {
  const dist = join(root, 'dist')
  const chunks = readdirSync(join(dist, 'chunks')).map((name) => join(dist, 'chunks', name))
  const programs = readdirSync(dist)
    .filter((name) => name.startsWith('program-'))
    .map((name) => join(dist, name))
  for (const file of [...chunks, ...programs]) {
    if (statSync(file).mtimeMs < Date.now() - KEPT_MS) rmSync(file, { force: true })
  }
}

if (isMain(import.meta.url)) await build()
