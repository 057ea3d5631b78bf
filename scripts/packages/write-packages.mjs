// Writes the files of the published packages into directories, as `npm pack` takes them.
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { bundleCommand } from '../build.mjs'
import { root } from '../root.mjs'
import { compileDeclarations } from './declarations.mjs'
import { command, libraries } from './descriptions.mjs'
import { writeJavaScript } from './javascript.mjs'
import { commandManifest, libraryManifest } from './manifest.mjs'
import { bundledPackages, noticesOf } from './notices.mjs'

/** @import { LibraryPackage } from './descriptions.mjs' */
/**
 * @typedef {object} WrittenPackage
 * @property {string} name
 * @property {string} version
 * @property {string} directory
 * @property {string[]} dependencies Names of packages that npm installs with it.
 * @property {string[]} bundled Directories of the packages whose code it contains.
 */

/**
 * @param {string} parent
 * @param {(name: string) => void} report called before each package
 * @returns {Promise<WrittenPackage[]>}
 */
export async function writePackages(parent, report) {
  report(command.name)
  const written = [await writeCommand(join(parent, command.name))]
  report('types')
  const declarations = await compileDeclarations(libraries)
  try {
    for (const library of libraries) {
      report(libraryManifest(library).name)
      const directory = join(parent, library.directory)
      written.push(await writeLibrary(library, directory))
      await declarations.write(library, directory)
    }
  } finally {
    await declarations.remove()
  }
  return written
}

/**
 * A library without its types.
 * @param {LibraryPackage} library
 * @param {string} directory
 */
export async function writeLibrary(library, directory) {
  await mkdir(directory, { recursive: true })
  const inputs = await writeJavaScript(library, directory)
  return finish(directory, library.directory, libraryManifest(library), inputs)
}

/** @param {string} directory */
async function writeCommand(directory) {
  await mkdir(join(directory, 'bin'), { recursive: true })
  const inputs = await bundleCommand(join(directory, 'lib'), { isPublished: true })
  const launchers = join(root, 'packages/cli/bin/published')
  for (const name of await readdir(launchers))
    await cp(join(launchers, name), join(directory, 'bin', basename(name)))
  return finish(directory, command.directory, commandManifest(), inputs)
}

/**
 * @param {string} directory
 * @param {string} source
 * @param {{ name: string, version: string, dependencies: Record<string, string> }} manifest
 * @param {string[]} inputs
 * @returns {Promise<WrittenPackage>}
 */
async function finish(directory, source, manifest, inputs) {
  await writeFile(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  const bundled = await bundledPackages(inputs)
  await writeFile(join(directory, 'THIRD-PARTY-NOTICES.txt'), noticesOf(bundled))
  await cp(join(root, 'LICENSE'), join(directory, 'LICENSE'))
  await cp(join(root, 'packages', source, 'README.md'), join(directory, 'README.md'))
  const { name, version, dependencies } = manifest
  return { name, version, directory, dependencies: Object.keys(dependencies), bundled }
}
