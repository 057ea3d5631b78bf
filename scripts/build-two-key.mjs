// Builds the Two-key library as an npm package with types, for apps outside this repository.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { build as esbuild } from 'esbuild'
import { isMain, root } from './root.mjs'

const packages = join(root, 'packages')
const source = join(packages, 'two-key/src')
const entries = {
  index: join(source, 'library.ts'),
  'dynamo-cache': join(source, 'dynamo-cache.ts'),
}
/** Optional peer dependencies: an app installs those that it uses. */
const peers = {
  '@slack/bolt': '^5.0.0',
  hono: '^4.0.0',
  '@aws-sdk/client-dynamodb': '^3.0.0',
  '@aws-sdk/lib-dynamodb': '^3.0.0',
  '@aws-sdk/util-dynamodb': '^3.0.0',
}
const optional = { optional: true }

/** Files of other packages that the types of the library refer to. */
const sharedTypes = [
  'kit/src/aws-db',
  'kit/src/circuit-breaker',
  'kit/src/db',
  'kit/src/deadline',
  'kit/src/log',
  'kit/src/table',
  'platform/src/clock',
  'platform/src/timers',
]

/**
 * The package, for `npm install` or `npm pack`.
 * @param {string} directory
 * @param {{ types?: boolean }} [options]
 */
export async function buildTwoKey(directory, { types = true } = {}) {
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  const own = await manifest('two-key')
  const dependencies = { zod: own.dependencies.zod }
  for (const [format, extension] of /** @type {const} */ ([
    ['esm', '.mjs'],
    ['cjs', '.cjs'],
  ])) {
    await esbuild({
      entryPoints: entries,
      outdir: directory,
      outExtension: { '.js': extension },
      bundle: true,
      platform: 'node',
      format,
      target: 'node20.19',
      external: [...Object.keys(dependencies), '@aws-sdk/*'],
      logLevel: 'warning',
    })
  }
  const { name, version, license } = own
  const described = {
    name,
    version,
    license,
    engines: { node: '>=20.19' },
    exports: exported(),
    dependencies,
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((peer) => [peer, optional])),
  }
  await writeFile(join(directory, 'package.json'), `${JSON.stringify(described, null, 2)}\n`)
  await cp(join(root, 'LICENSE'), join(directory, 'LICENSE'))
  if (types) await declare(directory)
}

/** @param {string} name */
async function manifest(name) {
  return JSON.parse(await readFile(join(packages, name, 'package.json'), 'utf8'))
}

function exported() {
  const of = (/** @type {string} */ name, /** @type {string} */ declared) => ({
    types: `./types/two-key/src/${declared}.d.ts`,
    import: `./${name}.mjs`,
    require: `./${name}.cjs`,
  })
  return { '.': of('index', 'library'), './dynamo-cache': of('dynamo-cache', 'dynamo-cache') }
}

/**
 * Declarations of all modules that the entries import, with relative imports between packages.
 * @param {string} directory
 */
async function declare(directory) {
  const types = join(directory, 'types')
  const work = await mkdtemp(join(tmpdir(), 'strongroom-types-'))
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: packages,
    outDir: types,
    typeRoots: [join(root, 'node_modules/@types')],
  }
  const project = join(work, 'tsconfig.json')
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions,
    include: [],
    files: [...Object.values(entries), ...sharedTypes.map((name) => join(packages, `${name}.ts`))],
  }
  await writeFile(project, JSON.stringify(config))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  await promisify(execFile)(process.execPath, [tsc, '-p', project])
  await rm(work, { recursive: true })
  for (const name of await readdir(types, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue
    const file = join(types, name)
    const text = await readFile(file, 'utf8')
    const changed = text
      .replaceAll(/(['"])@strongroom\/([\w-]+)\/([\w/-]+)\1/g, (_, __, owner, path) => {
        const target = join(types, owner, 'src', path)
        if (!existsSync(`${target}.d.ts`))
          throw new Error(`Add ${owner}/src/${path} to sharedTypes in scripts/build-two-key.mjs`)
        return `'${relative(dirname(file), target)}.js'`
      })
      .replaceAll(/(['"])(\.{1,2}\/[^'"]+)\.ts\1/g, "'$2.js'")
    await writeFile(file, changed)
  }
}

if (isMain(import.meta.url)) await buildTwoKey(join(root, 'dist/two-key'))
