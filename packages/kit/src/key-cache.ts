/**
 * How long keys from KMS, and secrets decrypted with them, are used from memory. When a KMS key is
 * disabled, whatever depends on it stops working in every process within `KEY_CACHE_SECONDS`.
 */
export const KEY_CACHE_SECONDS = 300

/** Secrets are decrypted with cached branch keys, so the two times must add up to the bound. */
export const SECRET_CACHE_SECONDS = 60
export const BRANCH_KEY_CACHE_SECONDS = KEY_CACHE_SECONDS - SECRET_CACHE_SECONDS
