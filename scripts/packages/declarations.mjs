// The types of the libraries: the declarations of all modules that the entries refer to, with relative
// imports between packages. Members that are marked @internal are left out, and with them what they
// refer to.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../root.mjs'

/** @import { LibraryPackage } from './descriptions.mjs' */

const packages = join(root, 'packages')
/** Where a declaration names a module: `from '…'` and `import('…')`. */
const SPECIFIER = /(\bfrom |\bimport\()(['"])([^'"]+)\2/g

/**
 * Compiles the declarations of all libraries at once, because compiling takes most of the time.
 * @param {LibraryPackage[]} libraries
 * @returns {Promise<Declarations>}
 */
export async function compileDeclarations(libraries) {
  const work = await mkdtemp(join(tmpdir(), 'strongroom-types-'))
  const compiled = join(work, 'types')
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      stripInternal: true,
      rootDir: packages,
      outDir: compiled,
      typeRoots: [join(root, 'node_modules/@types')],
    },
    files: libraries.flatMap(({ entries }) =>
      Object.values(entries).map((module) => join(packages, module)),
    ),
    // The compiler writes no declarations of modules that another package imports.
    include: ['platform', 'kit', 'kms'].map((name) => join(packages, name, 'src')),
    exclude: [join(packages, 'kit/src/testing')],
  }
  const project = join(work, 'tsconfig.json')
  await writeFile(project, JSON.stringify(config))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  // Modules that no public type refers to may have types that cannot be declared.
  const problems = await promisify(execFile)(process.execPath, [tsc, '-p', project], { cwd: root })
    .then(() => '')
    .catch((/** @type {{ stdout: string }} */ { stdout }) => stdout)
  return {
    write: (library, directory) => writeDeclarations(library, directory, compiled, problems),
    remove: () => rm(work, { recursive: true }),
  }
}

/**
 * @typedef {object} Declarations
 * @property {(library: LibraryPackage, directory: string) => Promise<void>} write
 * @property {() => Promise<void>} remove
 */

/** The path of the types of an entry in the package. @param {string} module @param {'.ts' | '.cts'} extension */
export function declarationFile(module, extension) {
  return `./types/${module.replace(/\.ts$/, '')}.d${extension}`
}

/**
 * @param {LibraryPackage} library
 * @param {string} directory
 * @param {string} compiled
 * @param {string} problems
 */
async function writeDeclarations(library, directory, compiled, problems) {
  const declared = new Set([...Object.keys(library.dependencies), ...Object.keys(library.peers)])
  const waiting = Object.values(library.entries).map((module) =>
    join(compiled, declarationOf(module)),
  )
  const seen = new Set(waiting)
  for (const file of waiting) {
    const name = relative(compiled, file)
    const problem = problems
      .split('\n')
      .find((line) => line.startsWith(`packages/${name.replace(/\.d\.ts$/, '.ts')}(`))
    if (problem !== undefined) throw new Error(`Cannot declare the types of ${name}: ${problem}`)
    if (!existsSync(file)) throw new Error(`There is no declaration ${name}`)
    const text = await readFile(file, 'utf8')
    /** @param {string} extension */
    const withExtension = (extension) =>
      text.replaceAll(SPECIFIER, (_, before, __, specifier) => {
        const target = moduleOf(specifier, file, compiled)
        if (target === undefined) {
          requireDeclared(specifier, declared, name)
          return `${before}'${specifier}'`
        }
        if (!seen.has(target)) {
          seen.add(target)
          waiting.push(target)
        }
        const path = relative(dirname(file), target).replaceAll('\\', '/')
        return `${before}'${path.startsWith('.') ? '' : './'}${path.replace(/\.d\.ts$/, extension)}'`
      })
    const to = join(directory, 'types', name)
    await mkdir(dirname(to), { recursive: true })
    await writeFile(to, withExtension('.js'))
    if (library.commonJs) await writeFile(to.replace(/\.d\.ts$/, '.d.cts'), withExtension('.cjs'))
  }
}

/** The declaration that a specifier names, or undefined for a module from elsewhere. */
/** @param {string} specifier @param {string} file @param {string} compiled */
function moduleOf(specifier, file, compiled) {
  if (specifier.startsWith('.')) return resolve(dirname(file), declarationOf(specifier))
  const [, owner, path] = /^@strongroom\/([\w-]+)\/(.+)$/.exec(specifier) ?? []
  return owner === undefined ? undefined : join(compiled, owner, 'src', `${path}.d.ts`)
}

/** @param {string} module */
function declarationOf(module) {
  return module.replace(/\.ts$/, '.d.ts')
}

/** @param {string} specifier @param {Set<string>} declared @param {string} name */
function requireDeclared(specifier, declared, name) {
  const [first = '', second = ''] = specifier.split('/')
  const owner = first.startsWith('@') ? `${first}/${second}` : first
  if (declared.has(owner) || builtinModules.includes(specifier.replace(/^node:/, ''))) return
  throw new Error(
    `The types of ${name} need ${owner}: declare it as a dependency or mark the member @internal`,
  )
}
