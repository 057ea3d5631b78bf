/**
 * The active secrets of a source or connection, newest first, stored as sealed JSON. A rotation adds
 * a secret; the others stay valid for an overlap, so that the other side has time to switch.
 */
import { unreadable } from '@strongroom/kit/secret-box'
import { randomBytes } from 'node:crypto'
import type { RandomSource } from '@strongroom/kit/ids'
import * as z from 'zod'
import { isoTime, seconds } from '../storage/schemas.ts'

const StoredSecret = z.strictObject({
  secret: z.string().min(1).max(1_024),
  createdAt: isoTime,
  /** The end of the overlap; the newest secret has none. */
  expiresAt: seconds.optional(),
})

/** The sealed list must fit into the attribute. */
const MAX_JSON_BYTES = 8_192
const MAX_SECRETS = 5

const SecretList = z.array(StoredSecret).min(1).max(MAX_SECRETS)
export type SecretList = z.infer<typeof SecretList>

/** Here and below, `now` is in milliseconds since the epoch. */
export function newSecretList(secret: string, now: number): SecretList {
  return [{ secret, createdAt: new Date(now).toISOString() }]
}

/** Without an overlap the other secrets expire immediately. Undefined if too many are active. */
export function rotateSecret(
  list: SecretList,
  secret: string,
  { now, overlapSeconds }: { now: number; overlapSeconds: number },
): SecretList | undefined {
  const end = Math.floor(now / 1000) + overlapSeconds
  const others = active(list, now)
    .filter((stored) => stored.secret !== secret)
    .map((stored) => ({ ...stored, expiresAt: Math.min(stored.expiresAt ?? end, end) }))
  const rotated = [...newSecretList(secret, now), ...active(others, now)]
  return rotated.length > MAX_SECRETS || isTooLong(rotated) ? undefined : rotated
}

/** The secrets to verify and sign with, newest first. */
export function activeSecrets(list: SecretList, now: number): string[] {
  return active(list, now).map(({ secret }) => secret)
}

/** The text to seal. Throws if `unpackSecrets` would not accept it. */
export function packSecrets(list: SecretList): string {
  if (!SecretList.safeParse(list).success) throw new TypeError('Not a list of secrets')
  return JSON.stringify(list)
}

/** Throws an error that `isUnreadable` recognises, without quoting the text, which contains secrets. */
export function unpackSecrets(text: string): SecretList {
  try {
    return SecretList.parse(JSON.parse(text))
  } catch {
    throw unreadable('Not a list of secrets')
  }
}

function active(list: SecretList, now: number): SecretList {
  return list.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now / 1000)
}

function isTooLong(list: SecretList): boolean {
  return Buffer.byteLength(JSON.stringify(list)) > MAX_JSON_BYTES
}

/** Secrets of Standard Webhooks are `whsec_` and the key in base64. */
const PREFIX = 'whsec_'

export function newSigningSecret(random: RandomSource = randomBytes): string {
  return PREFIX + Buffer.from(random(32)).toString('base64')
}

/** The key of a secret with or without its prefix; undefined if it is empty or not base64. */
export function decodeSigningSecret(secret: string): Buffer | undefined {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret
  // Other libraries accept only this alphabet, and both sides must derive the same key.
  const digits = /^([A-Za-z0-9+/]+)={0,2}$/.exec(text)?.[1]
  if (digits === undefined || digits.length % 4 === 1) return undefined
  return Buffer.from(digits, 'base64')
}

export function isSigningSecret(secret: string): boolean {
  return secret.startsWith(PREFIX) && decodeSigningSecret(secret) !== undefined
}
