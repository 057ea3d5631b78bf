/**
 * The secret part of a refresh token: half of it random, half a proof that this server made it for
 * this session. So a used token that comes back is known for what it is without a list of all that
 * were ever used, and whoever knows no more than the ids of a session cannot make one.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const HALF_BYTES = 16

export function newTokenSecret(familyKey: string): string {
  const random = randomBytes(HALF_BYTES)
  return Buffer.concat([random, proofOf(random, familyKey)]).toString('base64url')
}

/** Whether the session ever had this secret, now or before. */
export function wasIssued(secret: string, familyKey: string): boolean {
  const bytes = Buffer.from(secret, 'base64url')
  if (bytes.length !== 2 * HALF_BYTES || bytes.toString('base64url') !== secret) return false
  const proof = proofOf(bytes.subarray(0, HALF_BYTES), familyKey)
  return timingSafeEqual(bytes.subarray(HALF_BYTES), proof)
}

function proofOf(random: Uint8Array, familyKey: string): Buffer {
  const key = Buffer.from(familyKey, 'base64url')
  return createHmac('sha256', key).update(random).digest().subarray(0, HALF_BYTES)
}
