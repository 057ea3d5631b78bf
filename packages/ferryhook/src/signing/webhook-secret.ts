/** Secrets of Standard Webhooks: `whsec_` and the key in base64. The key is the decoded bytes. */
import { randomBytes } from 'node:crypto'
import type { RandomSource } from '@strongroom/kit/ids'

const PREFIX = 'whsec_'

export function newSigningSecret(random: RandomSource = randomBytes): string {
  return PREFIX + Buffer.from(random(32)).toString('base64')
}

/** The key of a secret, with or without its prefix; undefined if it is not base64, or empty. */
export function webhookKey(secret: string): Buffer | undefined {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret
  // Other libraries read this alphabet only, and both sides must have the same key.
  const digits = /^([A-Za-z0-9+/]+)={0,2}$/.exec(text)?.[1]
  if (digits === undefined || digits.length % 4 === 1) return undefined
  return Buffer.from(digits, 'base64')
}

export function isSigningSecret(secret: string): boolean {
  return secret.startsWith(PREFIX) && webhookKey(secret) !== undefined
}
