// Setups of one clone run one at a time. The lock is a directory with an empty file named after the id
// of each process that holds it, so that the lock of a killed process can be recognised. It is created,
// handed over and released by a single rename each, so that it always has a holder.
import {
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const POLL_MS = 200
/** No setup takes this long: after that, the process id belongs to another process. */
const LONGEST_MS = 30 * 60_000

/** @param {string} clone */
export function setupLock(clone) {
  return join(clone, '.setup-lock')
}

/**
 * Runs the work while holding the lock, and reports a wait that takes longer than `reportAfterMs`.
 * `keepFor` also holds the lock for a child process, which may outlive this one.
 * @template T
 * @param {string} lock
 * @param {number} reportAfterMs
 * @param {(keepFor: (child: number) => void) => Promise<T>} work
 */
export async function alone(lock, reportAfterMs, work) {
  for (let waited = 0; !take(lock); waited += POLL_MS) {
    if (waited === reportAfterMs)
      console.error(`Waiting for another setup to finish (if there is none, remove ${lock})`)
    await wait(POLL_MS)
  }
  const release = () => {
    const done = mkdtempSync(`${lock}-`)
    unlessElsewhere(() => renameSync(lock, join(done, 'lock')))
    rmSync(done, { recursive: true })
  }
  process.on('exit', release)
  try {
    return await work((child) => writeFileSync(join(lock, String(child)), ''))
  } finally {
    process.off('exit', release)
    release()
  }
}

/** @param {string} lock */
function take(lock) {
  const found = readHolders(lock)
  if (!found) return create(lock)
  const [first] = found
  if (first === undefined || found.some((holder) => isAtWork(lock, holder))) return false
  return unlessElsewhere(() => {
    const now = new Date()
    utimesSync(join(lock, first), now, now)
    // If several find the same dead process, only one can rename its file.
    renameSync(join(lock, first), join(lock, String(process.pid)))
  })
}

/** @param {string} lock */
function create(lock) {
  const mine = mkdtempSync(`${lock}-`)
  writeFileSync(join(mine, String(process.pid)), '')
  const created = unlessElsewhere(() => renameSync(mine, lock))
  if (!created) rmSync(mine, { recursive: true })
  return created
}

/** @param {string} lock @returns {string[] | undefined} */
function readHolders(lock) {
  try {
    return readdirSync(lock).toSorted()
  } catch {
    return undefined
  }
}

/** @param {string} lock @param {string} holder */
function isAtWork(lock, holder) {
  // Process ids restart in a new container, so an earlier process may have had this id.
  if (Number(holder) === process.pid) return false
  const found = statSync(join(lock, holder), { throwIfNoEntry: false })
  return found !== undefined && Date.now() - found.mtimeMs < LONGEST_MS && isRunning(Number(holder))
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
  }
}

/** Returns false if another process was first. @param {() => void} step */
function unlessElsewhere(step) {
  try {
    step()
    return true
  } catch {
    return false
  }
}
