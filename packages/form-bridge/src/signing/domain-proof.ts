/**
 * Proofs of a domain, byte for byte as docs/form-bridge-protocol.md has them. Each is a MAC under the
 * temporary key, so whoever reads a published one learns nothing that the exchange would take.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

export interface ProofSubject {
  temp_key: string
  registration_id: string
  domain: string
}

export function challengeResponse(
  { temp_key, registration_id, domain }: ProofSubject,
  challenge: string,
): string {
  return macOf(temp_key, `verify.${challenge}.${registration_id}.${domain}`)
}

export function staticProof({ temp_key, registration_id, domain }: ProofSubject): string {
  return `fb1=${macOf(temp_key, `static.${registration_id}.${domain}`)}`
}

export function isSameProof(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)]
  return left.length === right.length && timingSafeEqual(left, right)
}

function macOf(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex')
}
