/**
 * How long keys from KMS, and secrets decrypted with them, are used from memory. When a KMS key is
 * disabled, whatever depends on it stops working in every process within `KEY_CACHE_SECONDS`.
 */
import { type Clock, isRecent } from '@strongroom/platform/clock'

export const KEY_CACHE_SECONDS = 300

/** Secrets are decrypted with cached branch keys, so the two times must add up to the bound. */
export const SECRET_CACHE_SECONDS = 60
export const BRANCH_KEY_CACHE_SECONDS = KEY_CACHE_SECONDS - SECRET_CACHE_SECONDS

/** Decrypts a secret again once it has been in memory for `SECRET_CACHE_SECONDS`. */
export function cacheSecret<T>(clock: Clock, open: () => Promise<T>): () => Promise<T> {
  let cached: { value: Promise<T>; openedAt: number } | undefined
  return () => {
    if (cached && isRecent(clock, cached.openedAt, SECRET_CACHE_SECONDS * 1000)) return cached.value
    const entry = { value: open(), openedAt: clock.now() }
    cached = entry
    // Do not cache a failure: the key store may be unavailable.
    entry.value.catch(() => cached === entry && (cached = undefined))
    return entry.value
  }
}
