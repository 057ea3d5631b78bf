// Adds missing hashes to the lock file. npm records those of the packages it downloads, not those of
// other platforms. Run it with a registry that has these versions, then shorten the list in
// packages/cli/test/lock-file.test.ts.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.mjs'

const registry = process.env.npm_config_registry ?? 'https://registry.npmjs.org/'
const file = join(root, 'package-lock.json')

/** @typedef {{ version: string, name?: string, link?: boolean, integrity?: string }} Entry */
/** @type {{ packages: Record<string, Entry> }} */
const lock = JSON.parse(readFileSync(file, 'utf8'))
const missing = []
for (const [path, entry] of Object.entries(lock.packages)) {
  if (!path.includes('node_modules/') || entry.link || entry.integrity) continue
  const name = entry.name ?? path.split('node_modules/').at(-1) ?? ''
  const integrity = await integrityOf(name, entry.version)
  if (integrity === undefined) missing.push(`${name}@${entry.version}`)
  else {
    const { version, ...rest } = entry
    // Where npm puts it.
    lock.packages[path] = { version, integrity, ...rest }
  }
}
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
if (missing.length > 0) {
  console.error(`${registry} does not have these packages:\n${missing.join('\n')}`)
  process.exitCode = 1
}

/** @param {string} name @param {string} version @returns {Promise<string | undefined>} */
async function integrityOf(name, version) {
  const response = await fetch(new URL(`${name.replace('/', '%2f')}/${version}`, registry))
  if (response.status === 404) return undefined
  if (!response.ok) throw new Error(`${registry} answered ${response.status} for ${name}`)
  const { dist } = /** @type {{ dist: { integrity?: string } }} */ (await response.json())
  return dist.integrity
}
