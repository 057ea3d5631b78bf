// Prepares a release: checks versions and changelog, packs, writes checksums and bills of materials.
//
//   npm run release                 # a dry run: publishes nothing and says what --publish would do
//   npm run release -- --publish    # publishes the packages with npm
//   npm run release -- --json
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { npm } from './npm.mjs'
import { pack } from './pack.mjs'
import { sbomOf } from './packages/sbom.mjs'
import { versionProblems } from './packages/versions.mjs'
import { isMain, root } from './root.mjs'
import { setup } from './setup.mjs'

/** @import { PackedPackage } from './pack.mjs' */

/**
 * Packs into the directory and writes `SHA256SUMS` and one bill of materials for each package.
 * @param {string} directory
 * @param {(progress: string) => void} report
 */
async function prepareRelease(directory, report) {
  const packed = await pack(directory, report)
  for (const name of await readdir(directory))
    if (name.endsWith('.cdx.json')) await rm(join(directory, name))
  const files = []
  for (const each of packed) {
    report(`Listing the contents of ${each.name}`)
    const sbom = each.file.replace(/\.tgz$/, '.cdx.json')
    await writeFile(sbom, await sbomOf(each))
    files.push(each.file, sbom)
  }
  const sums = await Promise.all(
    files.map(async (file) => {
      const sha256 = createHash('sha256')
        .update(await readFile(file))
        .digest('hex')
      return { file: basename(file), sha256 }
    }),
  )
  const text = sums.map(({ file, sha256 }) => `${sha256}  ${file}\n`).join('')
  await writeFile(join(directory, 'SHA256SUMS'), text)
  return { packed, sums }
}

/** @param {PackedPackage} packed */
function publishCommand({ file }) {
  return ['publish', relative(root, file), '--access', 'public']
}

/**
 * Skips what is published, so that a second run finishes an interrupted one.
 * @param {PackedPackage[]} packages
 */
async function publish(packages) {
  for (const each of packages) {
    const spec = `${each.name}@${each.version}`
    const published = await npm(['view', spec, 'version'], { cwd: root }).catch(() => '')
    if (published.trim() === each.version) {
      console.error(`${spec} is already published`)
      continue
    }
    console.error(`Publishing ${spec}`)
    await npm(publishCommand(each), { cwd: root })
  }
}

async function uncommittedChanges() {
  const { stdout } = await promisify(execFile)('git', ['status', '--porcelain'], { cwd: root })
  return stdout.trim()
}

/** @returns {Promise<number>} the exit code */
async function main() {
  const { values } = parseArgs({
    options: { publish: { type: 'boolean', default: false }, json: { type: 'boolean' } },
  })
  await setup()
  const problems = versionProblems(root, { isRelease: values.publish })
  if (values.publish && (await uncommittedChanges()) !== '')
    problems.push('There are changes that are not committed: commit them first')
  if (problems.length > 0) {
    for (const problem of problems) console.error(problem)
    return 1
  }
  const { packed, sums } = await prepareRelease(join(root, 'dist/npm'), (progress) =>
    console.error(progress),
  )
  if (values.publish) await publish(packed)
  if (values.json) {
    console.log(JSON.stringify({ published: values.publish, files: sums }, null, 2))
    return 0
  }
  for (const { file, sha256 } of sums) console.log(`${sha256}  dist/npm/${file}`)
  if (values.publish)
    console.log('\nPublished. Tag the commit, and attach dist/npm to the release.')
  else {
    const commands = packed.map((each) => `  npm ${publishCommand(each).join(' ')}\n`)
    console.log(
      `\nNothing was published. "npm run release -- --publish" would run:\n\n${commands.join('')}`,
    )
  }
  return 0
}

if (isMain(import.meta.url)) {
  try {
    process.exitCode = await main()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
