// package.json of the published packages.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../root.mjs'
import { declarationFile } from './declarations.mjs'
import { command } from './descriptions.mjs'
import { entryFile } from './javascript.mjs'

/** @import { LibraryPackage } from './descriptions.mjs' */

/** @param {LibraryPackage} library */
export function libraryManifest(library) {
  const { name, version, license } = readManifest(join('packages', library.directory))
  const { '.': main = '' } = library.entries
  const exports = Object.entries(library.entries).map(([entry, module]) => [
    entry,
    exportOf(entryFile(entry), module, library.commonJs),
  ])
  return {
    name,
    version,
    description: library.description,
    keywords: library.keywords,
    license,
    type: 'module',
    sideEffects: false,
    // For tools that do not read `exports`.
    main: library.commonJs ? './index.cjs' : './index.js',
    types: declarationFile(main, library.commonJs ? '.cts' : '.ts'),
    exports: { ...Object.fromEntries(exports), './package.json': './package.json' },
    engines: supportedNode(),
    dependencies: dependenciesOf(library.dependencies),
    ...(Object.keys(library.peers).length > 0 && {
      peerDependencies: library.peers,
      peerDependenciesMeta: Object.fromEntries(
        Object.keys(library.peers).map((peer) => [peer, { optional: true }]),
      ),
    }),
  }
}

export function commandManifest() {
  const { version, license } = readManifest(join('packages', command.directory))
  const { name, description, keywords, dependencies } = command
  return {
    name,
    version,
    description,
    keywords,
    license,
    type: 'module',
    bin: { strongroom: 'bin/strongroom.cjs' },
    exports: { './package.json': './package.json' },
    engines: supportedNode(),
    dependencies: dependenciesOf(dependencies),
  }
}

/** @param {string} directory */
export function readManifest(directory) {
  return JSON.parse(readFileSync(join(root, directory, 'package.json'), 'utf8'))
}

/** @param {string} file @param {string} module @param {boolean} commonJs */
function exportOf(file, module, commonJs) {
  const asModule = { types: declarationFile(module, '.ts'), default: `./${file}.js` }
  if (!commonJs) return asModule
  return {
    import: asModule,
    require: { types: declarationFile(module, '.cts'), default: `./${file}.cjs` },
  }
}

/** @returns {{ node: string }} */
function supportedNode() {
  return readManifest('.').engines
}

/** With the versions that this clone has installed. @param {Record<string, string>} wanted */
function dependenciesOf(wanted) {
  return Object.fromEntries(
    Object.entries(wanted).map(([name, how]) => {
      const { version } = readManifest(join('node_modules', name))
      return [name, how === 'pinned' ? version : `^${version}`]
    }),
  )
}
