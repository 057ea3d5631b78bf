// Prepares a clone: installs the packages of the lock file and bundles the command line. Skips what is
// up to date, so that every command can call this first.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, isStale } from './build.mjs'
import { isMain, root } from './root.mjs'
import { alone, setupLock } from './setup-lock.mjs'

export async function setup() {
  requireNode()
  const lock = setupLock(root)
  // Checked without the lock, because a read-only clone cannot have one.
  if (installed(root) && !isStale() && !existsSync(lock)) return
  // Bundling takes only a second or two, so it is not reported.
  const reportAfterMs = installed(root) ? 10_000 : 0
  await alone(lock, reportAfterMs, async (keepFor) => {
    if (!installed(root)) await install(keepFor)
    if (isStale()) await build()
  })
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  fail(
    `Strongroom needs Node 20.19 or newer, this is ${process.versions.node}: get one at nodejs.org`,
  )
}

/**
 * Whether node_modules has every required package of the lock file in its version.
 * @param {string} clone
 */
export function installed(clone) {
  const present = readPackages(join(clone, 'node_modules', '.package-lock.json'))
  const wanted = readPackages(join(clone, 'package-lock.json'))
  if (!present || !wanted) return false
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.startsWith('node_modules/') || entry.optional || entry.devOptional) return true
    if (!existsSync(join(clone, path))) return false
    return entry.link || present[path]?.version === entry.version
  })
}

/** @typedef {{ version?: string, link?: boolean, optional?: boolean, devOptional?: boolean }} Entry */

/** @param {string} file @returns {Record<string, Entry> | undefined} */
function readPackages(file) {
  if (!existsSync(file)) return undefined
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

/** @param {(child: number) => void} keepFor */
async function install(keepFor) {
  console.error('Installing dependencies (once, about half a minute)…')
  /** @type {import('node:child_process').SpawnOptions} */
  const options = { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] }
  // `npm start` sets the path of npm; otherwise (`npx`, `node scripts/…`) it is looked up in PATH.
  const npm = process.env.npm_execpath
  const child = npm?.endsWith('npm-cli.js')
    ? spawn(process.execPath, [npm, 'ci', '--loglevel=error'], options)
    : spawn('npm ci --loglevel=error', [], { ...options, shell: true })
  if (child.pid !== undefined) keepFor(child.pid)
  const [status] = await once(child, 'close').catch(() => [])
  if (status !== 0)
    fail('Could not install dependencies: see the lines above, then run the command again')
}

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(message)
  process.exit(1)
}

if (isMain(import.meta.url)) await setup()
