// Bundles each Lambda function into dist/lambda/<function>.zip: one file, nothing to install. It needs no
// network and no container, and the same sources give the same bytes.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { zipSync } from 'fflate'
import { isMain, root } from './root.mjs'

const handlers = join(root, 'packages/lambda/src/handlers')
/** The earliest date that zip supports, for every file. */
const date = new Date(1980, 0, 1)

/** The names of all functions. */
export function functionNames() {
  return readdirSync(handlers)
    .map((file) => basename(file, '.ts'))
    .toSorted()
}

/**
 * @param {object} options
 * @param {string} options.directory Where to write.
 * @param {string[]} [options.names] All functions unless given.
 * @returns {Promise<Map<string, { zip: string, bytes: number, inputs: string[] }>>} By function, with the
 * files that its bundle was made from.
 */
export async function buildLambda({ directory, names = functionNames() }) {
  const { build } = await import('esbuild')
  const { browserBundles } = await import('./browser-bundle.mjs')
  const { threadBundles } = await import('./thread-bundle.mjs')
  const parts = join(directory, 'bundles')
  rmSync(parts, { recursive: true, force: true })
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(
      names.map((name) => [`${name}/index`, join(handlers, `${name}.ts`)]),
    ),
    outdir: parts,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    // A smaller file loads faster; names stay, because logs show them.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    metafile: true,
    // The ES modules of packages that also have CommonJS, so that nothing is bundled twice.
    mainFields: ['module', 'main'],
    plugins: [browserBundles(), threadBundles()],
    // Some dependencies are CommonJS and call require for Node's own modules.
    banner: {
      js: "import { createRequire as nodeRequire } from 'node:module'; const require = nodeRequire(import.meta.url);",
    },
    logLevel: 'warning',
  })
  const built = new Map()
  for (const name of names) {
    const output = Object.entries(metafile.outputs).find(([file]) =>
      file.endsWith(`/${name}/index.mjs`),
    )
    if (!output) throw new Error(`esbuild wrote no bundle for ${name}`)
    const file = join(parts, name, 'index.mjs')
    const zip = join(directory, `${name}.zip`)
    // The mode rw-r--r--, also on Windows.
    const entry = { mtime: date, os: 3, attrs: 0o100644 << 16 }
    const bytes = zipSync({ 'index.mjs': [readFileSync(file), entry] }, { level: 9 })
    mkdirSync(directory, { recursive: true })
    writeFileSync(zip, bytes)
    built.set(name, { zip, bytes: bytes.length, inputs: Object.keys(output[1].inputs) })
  }
  rmSync(parts, { recursive: true, force: true })
  return built
}

if (isMain(import.meta.url)) {
  const built = await buildLambda({ directory: join(root, 'dist/lambda') })
  for (const [name, { bytes }] of built) {
    console.log(`${name.padEnd(24)} ${(bytes / 1024).toFixed(0).padStart(6)} KB`)
  }
}
