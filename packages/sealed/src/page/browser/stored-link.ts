/**
 * The link that this tab has opened. It is removed from the address bar immediately, so that nobody
 * can read it there and the back button does not lead to it. It is stored in the session storage of
 * the tab, so that a reload finds it. The browser's history still contains it, because that is
 * written before any script runs. Browsers write session storage to disk, so a key that was typed or
 * pasted into the page is never stored: only the link that it belongs to, and the claim.
 */
import { SealedError } from '../../crypto/errors.ts'
import { parseTarget, repairEscapedHash, trimPastedLink } from '../../crypto/link.ts'
import { newClaim } from '../../crypto/seal.ts'
import { GRACE_SECONDS } from '../../limits.ts'

export type StoredLink =
  /** The claim is created with the link, before the first request. `until` is when it is hidden. */
  | { kind: 'open'; target: string; claim: string; until?: number }
  /** A management link or a request, neither of which shows a secret. */
  | { kind: 'manage'; target: string }
  /** A secret was shown in this tab and is hidden now. */
  | { kind: 'hidden' }

const STORAGE_KEY = 'sealed.link'

/** Used until the page is left where storage is blocked. */
let inMemory: StoredLink | undefined

/** Moves the part after the `#` out of the address bar. */
export function takeFromAddress(): string {
  const target = trimPastedLink(location.hash.slice(1))
  if (location.href.includes('#')) {
    history.replaceState(null, '', location.pathname + location.search)
  }
  return target
}

/**
 * The link that is in the path or the query, because its `#` was escaped. It is removed from the
 * address bar, but the path stays that of a damaged link, so that a reload shows that too. Empty if it
 * is not complete; undefined if there is none.
 */
export function takeEscapedLink(): string | undefined {
  if (location.hash !== '') return undefined
  const repaired = repairEscapedHash(location.pathname + location.search)
  const [before, ...after] = repaired.split('#')
  const target = trimPastedLink(after.join('').split(/[?&/]/)[0] ?? '')
  const isLink = isTarget(target)
  // A query may contain it for any other reason.
  if (after.length === 0 || (before?.includes('?') && !isLink)) return undefined
  history.replaceState(null, '', `${before?.split('?')[0]}%23`)
  return isLink ? target : ''
}

function isTarget(text: string): boolean {
  try {
    return parseTarget(text).kind !== undefined
  } catch (error) {
    if (!(error instanceof SealedError)) throw error
    return false
  }
}

/** Returns whether a reload will find it. */
export function storeLink(link: StoredLink): boolean {
  inMemory = link
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(link))
    return true
  } catch {
    // Storage is blocked or full.
    return false
  }
}

/** The same link again is the same reader and keeps its claim. */
export function storeArrivingLink(target: string) {
  if (target === '') return
  const before = storedLink()
  if (before?.kind === 'open' && before.target === target) return
  storeLink(
    /^[mr]:/.test(target)
      ? { kind: 'manage', target }
      : { kind: 'open', target, claim: newClaim() },
  )
}

/** Clears it unless another link was opened in this tab meanwhile. */
export function clearLinkOf(target: string) {
  const found = storedLink()
  if (found?.kind === 'manage' && found.target === target) clearLink()
}

export function clearLink() {
  inMemory = undefined
  try {
    sessionStorage.removeItem(STORAGE_KEY)
  } catch {
    // Storage is blocked, so nothing was stored.
  }
}

export function storedLink(): StoredLink | undefined {
  const found = readStorage() ?? inMemory
  if (found?.kind !== 'open' || found.until === undefined) return found
  const remainingMs = found.until - Date.now()
  if (remainingMs <= 0) {
    storeLink({ kind: 'hidden' })
    return { kind: 'hidden' }
  }
  // The clock was set back, so the time left is unknown: the reader has to open it again.
  const { target, claim } = found
  return remainingMs > GRACE_SECONDS * 1000 ? { kind: 'open', target, claim } : found
}

function readStorage(): StoredLink | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}
