// The software bill of materials of a published package, in CycloneDX, by npm.
//
// npm describes what a lock file installs, but most of what a package contains is bundled into it. So npm
// gets a lock file that lists the bundled packages as dependencies, beside those that it installs.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { npm } from '../npm.mjs'
import { root } from '../root.mjs'

/** @typedef {{ version: string, name?: string, license?: string, integrity?: string, dependencies?: Record<string, string>, optionalDependencies?: Record<string, string>, optional?: boolean }} LockEntry */
/** @typedef {{ name: string, version: string, dependencies: string[], bundled: string[] }} Contents */

/**
 * The bill of materials, as JSON text.
 * @param {Contents} contents
 */
export async function sbomOf(contents) {
  const lock = lockOf(contents, await readLock())
  const work = await mkdtemp(join(tmpdir(), 'strongroom-sbom-'))
  try {
    await writeFile(join(work, 'package.json'), JSON.stringify(lock.packages['']))
    await writeFile(join(work, 'package-lock.json'), JSON.stringify(lock))
    return await npm(
      ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--loglevel=error'],
      { cwd: work },
    )
  } finally {
    await rm(work, { recursive: true })
  }
}

/** @returns {Promise<Record<string, LockEntry>>} */
async function readLock() {
  return JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')).packages
}

/** @param {Contents} contents @param {Record<string, LockEntry>} locked */
function lockOf({ name, version, dependencies, bundled }, locked) {
  /** @type {Record<string, LockEntry & Record<string, unknown>>} */
  const packages = {}
  /** @type {Record<string, string>} */
  const direct = {}
  for (const path of bundled) {
    const { license, ...entry } = requireEntry(locked, path)
    const bundledName = nameOf(path)
    // Two versions of a package need two names.
    const alias =
      direct[bundledName] === undefined ? bundledName : `${bundledName}-${entry.version}`
    direct[alias] = alias === bundledName ? entry.version : `npm:${bundledName}@${entry.version}`
    packages[`node_modules/${alias}`] = {
      name: bundledName,
      version: entry.version,
      ...(license !== undefined && { license }),
      ...(entry.integrity !== undefined && { integrity: entry.integrity }),
    }
  }
  const waiting = dependencies.filter((each) => direct[each] === undefined)
  for (const each of waiting) direct[each] = requireEntry(locked, `node_modules/${each}`).version
  for (const each of waiting) {
    const path = `node_modules/${each}`
    if (packages[path]?.dependencies) continue
    const entry = requireEntry(locked, path)
    packages[path] = { ...entry, name: each }
    waiting.push(...Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }))
  }
  packages[''] = { name, version, dependencies: direct }
  return { name, version, lockfileVersion: 3, requires: true, packages }
}

/** @param {Record<string, LockEntry>} locked @param {string} path */
function requireEntry(locked, path) {
  const entry = locked[path]
  if (entry === undefined) throw new Error(`package-lock.json has no ${path}`)
  return entry
}

/** @param {string} path */
function nameOf(path) {
  return path.split('node_modules/').at(-1) ?? path
}
