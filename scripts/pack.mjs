// Packs what is published: the command with the server, and four libraries.
//
//   npm run pack                # writes dist/npm/*.tgz
//   npm run pack -- --json      # and prints what was written as JSON
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { npm } from './npm.mjs'
import { isMain, root } from './root.mjs'
import { setup } from './setup.mjs'

/**
 * @typedef {object} PackedPackage
 * @property {string} name
 * @property {string} version
 * @property {string} file
 * @property {number} bytes
 * @property {number} files
 * @property {number} unpackedBytes
 * @property {string[]} dependencies
 * @property {string[]} bundled
 */

/**
 * Replaces the packages in the directory when all are packed.
 * @param {string} directory
 * @param {(progress: string) => void} report
 * @returns {Promise<PackedPackage[]>}
 */
export async function pack(directory, report) {
  // Needs the packages that setup installs.
  const { writePackages } = await import('./packages/write-packages.mjs')
  const work = await mkdtemp(join(tmpdir(), 'strongroom-pack-'))
  try {
    const written = await writePackages(work, (name) => report(`Building ${name}`))
    await mkdir(directory, { recursive: true })
    const staging = await mkdtemp(join(directory, '.staging-'))
    try {
      const packed = []
      for (const { name, version, directory: source, dependencies, bundled } of written) {
        report(`Packing ${name} ${version}`)
        packed.push({ ...(await packOne(source, staging)), dependencies, bundled })
      }
      for (const old of await readdir(directory))
        if (old.endsWith('.tgz')) await rm(join(directory, old))
      for (const { file } of packed) await rename(join(staging, file), join(directory, file))
      return packed.map((each) => ({ ...each, file: join(directory, each.file) }))
    } finally {
      await rm(staging, { recursive: true })
    }
  } finally {
    await rm(work, { recursive: true })
  }
}

/** @param {string} source @param {string} destination */
async function packOne(source, destination) {
  const printed = await npm(
    ['pack', '--json', '--loglevel=error', '--ignore-scripts', '--pack-destination', destination],
    { cwd: source },
  )
  // An array, or from npm 12 on an object by name.
  const [result] = Object.values(JSON.parse(printed))
  const { name, version, filename, unpackedSize, entryCount } = result
  const { size } = await stat(join(destination, filename))
  return {
    name,
    version,
    file: filename,
    bytes: size,
    files: entryCount,
    unpackedBytes: unpackedSize,
  }
}

/** @param {number} bytes */
function kilobytes(bytes) {
  return `${Math.ceil(bytes / 1000).toLocaleString('en')} kB`
}

async function main() {
  await setup()
  const packed = await pack(join(root, 'dist/npm'), (progress) => console.error(progress))
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify(packed, null, 2))
    return
  }
  for (const { file, bytes, files, unpackedBytes } of packed) {
    const size = `${kilobytes(bytes)}, ${kilobytes(unpackedBytes)} unpacked, ${files} files`
    console.log(`${relative(root, file)}  ${size}`)
  }
}

if (isMain(import.meta.url)) await main()
