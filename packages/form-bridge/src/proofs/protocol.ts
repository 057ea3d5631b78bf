/**
 * Proofs of a domain, as docs/form-bridge-protocol.md defines them. Each is a MAC under the temporary
 * key, so a published proof does not reveal the key.
 */
import { createHmac } from 'node:crypto'
import type { SiteAddress } from '../sites/address.ts'

export const WELL_KNOWN = '/.well-known/form-bridge-verification.txt'
export const META_NAME = 'form-bridge-verification'
export const DNS_PREFIX = '_form-bridge.'

export interface ProofSubject {
  temp_key: string
  registration_id: string
  domain: string
}

export function challengeResponse(
  { temp_key, registration_id, domain }: ProofSubject,
  challenge: string,
): string {
  return hmac(temp_key, `verify.${challenge}.${registration_id}.${domain}`)
}

export function staticProof({ temp_key, registration_id, domain }: ProofSubject): string {
  return `fb1=${hmac(temp_key, `static.${registration_id}.${domain}`)}`
}

/** Where a site can publish the static proof. */
export function publishedProofs({ home, host }: SiteAddress, subject: ProofSubject) {
  const proof = staticProof(subject)
  return {
    well_known: { url: home + WELL_KNOWN, content: proof },
    meta: { name: META_NAME, content: proof },
    dns: { name: DNS_PREFIX + host, value: proof },
  }
}

function hmac(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex')
}
