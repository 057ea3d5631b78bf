// Bundles the command line and the server into dist/, because Node 20 cannot run TypeScript.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isMain, root } from './root.mjs'

const entry = join(root, 'packages/cli/src/main.ts')
const bundle = join(root, 'dist/strongroom.js')

/** Whether a source, a script or the lock file is newer than the bundle, or another file made of them. */
export function isStale(file = bundle) {
  if (!existsSync(file)) return true
  const built = statSync(file).mtimeMs
  const sources = readdirSync(join(root, 'packages')).map((name) =>
    join(root, 'packages', name, 'src'),
  )
  return [
    join(root, 'package-lock.json'),
    ...[...['scripts', 'docs', 'plugins'].map((name) => join(root, name)), ...sources].flatMap(
      files,
    ),
  ].some((source) => statSync(source).mtimeMs > built)
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
  const { threadBundles } = await import('./thread-bundle.mjs')
  const { metafile } = await esbuild({
    entryPoints: { strongroom: entry },
    outdir: directory,
    absWorkingDir: root,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    ...(isPublished
      ? { legalComments: 'none', minifySyntax: true, minifyWhitespace: true }
      : { sourcemap: 'linked', sourcesContent: false }),
    plugins: [browserBundles(), directoryFiles(), threadBundles()],
    // Native addons cannot be bundled.
    external: ['lmdb'],
    // Some dependencies are CommonJS and call require for Node's own modules.
    banner: {
      js: "import { createRequire as nodeRequire } from 'node:module'; const require = nodeRequire(import.meta.url);",
    },
    metafile: true,
    logLevel: 'warning',
  })
  return Object.keys(metafile.inputs)
}

/** Keeps old chunks, because a running server may still load chunks of its own build. */
const KEPT_MS = 7 * 86_400_000

function removeOldChunks() {
  for (const file of files(join(root, 'dist/chunks'))) {
    if (statSync(file).mtimeMs < Date.now() - KEPT_MS) rmSync(file, { force: true })
  }
}

/** @param {string} directory */
function files(directory) {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map((found) => join(found.parentPath, found.name))
}

if (isMain(import.meta.url)) await build()
