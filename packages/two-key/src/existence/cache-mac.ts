/**
 * A MAC over an entry of the cache, by a key that is made from the bot token: who can only write
 * the table cannot switch the check off, and entries end with the token.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { CacheItem } from '../table.ts'

const PURPOSE = 'strongroom two-key cache entry'

export function macOf(token: string): (entry: CacheItem) => Uint8Array {
  const key = new Uint8Array(hkdfSync('sha256', token, '', PURPOSE, 32))
  return ({ cache_key, ttl, verified_at }) =>
    new Uint8Array(
      createHmac('sha256', key)
        .update(JSON.stringify([cache_key, ttl, verified_at ?? null]))
        .digest(),
    )
}

export function isAuthentic(entry: CacheItem, token: string): boolean {
  return entry.mac !== undefined && timingSafeEqual(entry.mac, macOf(token)(entry))
}
