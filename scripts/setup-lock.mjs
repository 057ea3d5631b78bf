// Setups of one clone take turns. The lock is a directory with an empty file named after each
// process at work: one that was killed is known by being gone. It is made, handed over and given up
// by one renaming each, so that nobody ever sees it without a name.
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
/** No setup takes this long: by then the number is that of another process. */
const LONGEST_MS = 30 * 60_000

/** @param {string} clone */
export function setupLock(clone) {
  return join(clone, '.setup-lock')
}

/**
 * Does the work when nobody else does; tells a person if that takes longer than their patience.
 * `keepFor` holds the lock for a child too, which may outlive this process.
 * @template T
 * @param {string} lock
 * @param {number} patienceMs
 * @param {(keepFor: (child: number) => void) => Promise<T>} work
 */
export async function alone(lock, patienceMs, work) {
  for (let waited = 0; !take(lock); waited += POLL_MS) {
    if (waited === patienceMs)
      console.error(`Another setup is under way; waiting for it (if there is none, remove ${lock})`)
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
    // Of several that find the same dead process, only one can rename its file.
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
  // In a container the numbers begin anew: the one before may have had mine.
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

/** Whether it could be done; if not, somebody else was first. @param {() => void} step */
function unlessElsewhere(step) {
  try {
    step()
    return true
  } catch {
    return false
  }
}
