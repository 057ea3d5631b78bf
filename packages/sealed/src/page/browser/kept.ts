import { unwrapped } from '../../crypto/pasted.ts'

/**
 * What this tab keeps of a link. It leaves the address bar at once, so that nobody reads it there
 * and the way back does not lead to it, and lives in the session storage of this tab: a reload finds
 * it again. The browser's own list of visited addresses has it all the same: it is written before
 * any script runs.
 */

export type Kept =
  /** A link that opens a secret; the claim is made with it, before anything is asked. */
  | { kind: 'open'; target: string; claim: string; /** Forgotten from then on. */ until?: number }
  | { kind: 'manage'; target: string }
  /** Something was shown here and is gone. */
  | { kind: 'hidden' }

const KEY = 'sealed.link'
/** For which a claim is live. */
const LONGEST_MS = 30_000

/** Where storage is forbidden, until the page is left. */
let inMemory: Kept | undefined

/** Takes what stands behind the `#` out of the address bar. */
export function takeFromAddress(): string {
  const target = unwrapped(location.hash.slice(1))
  if (location.href.includes('#')) {
    history.replaceState(null, '', location.pathname + location.search)
  }
  return target
}

/** Whether a reload will find it. */
export function keep(link: Kept): boolean {
  inMemory = link
  try {
    sessionStorage.setItem(KEY, JSON.stringify(link))
    return true
  } catch {
    // Forbidden or full.
    return false
  }
}

export function forget() {
  inMemory = undefined
  try {
    sessionStorage.removeItem(KEY)
  } catch {
    // Forbidden: nothing was kept there.
  }
}

export function kept(): Kept | undefined {
  const found = stored() ?? inMemory
  if (found?.kind !== 'open' || found.until === undefined) return found
  const leftMs = found.until - Date.now()
  if (leftMs <= 0) {
    keep({ kind: 'hidden' })
    return { kind: 'hidden' }
  }
  // The clock was set back, and nobody knows how much is left: opened again, but not by itself.
  const { target, claim } = found
  return leftMs > LONGEST_MS ? { kind: 'open', target, claim } : found
}

function stored(): Kept | undefined {
  try {
    // Nobody but this page writes it.
    return JSON.parse(sessionStorage.getItem(KEY) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}
