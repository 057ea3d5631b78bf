// The JavaScript of a library: its modules and those of internal packages, bundled.
//
// With CommonJS, that form has all the code and the ES modules only name its exports: a program that
// loads both must not get two copies, because LMDB's files may be opened only once in a process.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { root } from '../root.mjs'

/** @import { LibraryPackage } from './descriptions.mjs' */

/** The file of an entry, without its extension. @param {string} entry */
export function entryFile(entry) {
  return entry === '.' ? 'index' : entry.slice('./'.length)
}

/**
 * Returns the files that went into the bundle.
 * @param {LibraryPackage} library
 * @param {string} directory
 */
export async function writeJavaScript(library, directory) {
  /** @satisfies {import('esbuild').BuildOptions} */
  const common = {
    entryPoints: Object.fromEntries(
      Object.entries(library.entries).map(([entry, module]) => [
        entryFile(entry),
        join(root, 'packages', module),
      ]),
    ),
    outdir: directory,
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    external: [...Object.keys(library.dependencies), ...Object.keys(library.peers)],
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  }
  const { metafile } = await build({
    ...common,
    format: 'esm',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    write: !library.commonJs,
  })
  if (!library.commonJs) return Object.keys(metafile.inputs)

  await build({
    ...common,
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    define: { 'import.meta.url': 'moduleUrl' },
    banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
  })
  for (const { entryPoint, exports } of Object.values(metafile.outputs)) {
    const [entry] =
      Object.entries(library.entries).find(([, module]) => entryPoint === `packages/${module}`) ??
      []
    if (entry === undefined) continue
    const file = entryFile(entry)
    const text = `import library from './${file}.cjs'\nexport const {\n${exports.map((name) => `  ${name},\n`).join('')}} = library\n`
    await writeFile(join(directory, `${file}.js`), text)
  }
  return Object.keys(metafile.inputs)
}
