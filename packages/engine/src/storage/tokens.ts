// Idempotency tokens of transactions: the request that used a token, until the token expires.
// A second, time-ordered key per token lets the expired ones be found without a scan.

import type { Transaction } from './transaction.ts'

export function tokenKey(token: string): string[] {
  return ['token', token]
}

export function tokenExpiryKey(expiresAt: number, token: string): (string | number)[] {
  return ['token-expiry', expiresAt, token]
}

const BATCH = 500

/** Deletes tokens that expired by `now` (milliseconds); returns whether more may be left. */
export function forgetTokens(tx: Transaction, now: number): boolean {
  let found = 0
  for (const key of tx.env.meta.getKeys(expired(now))) {
    const [, expiresAt, token] = key as [string, number, string]
    tx.putMeta(key as (string | number)[], undefined)
    // The token may have been used again, with a later expiry.
    const record = tx.env.meta.get(tokenKey(token)) as { expiresAt: number } | undefined
    if (record?.expiresAt === expiresAt) tx.putMeta(tokenKey(token), undefined)
    found++
  }
  return found === BATCH
}

export function hasExpiredTokens(env: Transaction['env'], now: number): boolean {
  for (const _ of env.meta.getKeys({ ...expired(now), limit: 1 })) return true
  return false
}

function expired(now: number): {
  start: (string | number)[]
  end: (string | number)[]
  limit: number
} {
  return { start: ['token-expiry', 0], end: ['token-expiry', now], limit: BATCH }
}
