import { timingSafeEqual } from 'node:crypto'

/**
 * Compares secrets without revealing by its duration where they differ. Texts are compared as UTF-8.
 * Only whether the lengths differ may be seen, so they must not be secret.
 */
export function timingSafeEquals(left: Uint8Array, right: Uint8Array): boolean
export function timingSafeEquals(left: string, right: string): boolean
export function timingSafeEquals(left: Uint8Array | string, right: Uint8Array | string): boolean {
  const a = typeof left === 'string' ? Buffer.from(left) : left
  const b = typeof right === 'string' ? Buffer.from(right) : right
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}
