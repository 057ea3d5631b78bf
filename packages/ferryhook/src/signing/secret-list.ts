/**
 * The secrets of a source or connection that are in force, the newest first: JSON that is sealed
 * before it is stored. A rotation puts a new one in front; the others stay valid for the overlap, so
 * that the other side can follow.
 */
import * as z from 'zod'
import { isoTime, seconds } from '../items/values.ts'

const HeldSecret = z.strictObject({
  secret: z.string().min(1).max(1_024),
  createdAt: isoTime,
  /** The end of an overlap; the newest has none. */
  expiresAt: seconds.optional(),
})

/** Sealed, they must fit into the attribute. */
const LONGEST_JSON = 8_192
const MOST_SECRETS = 5

const SecretList = z.array(HeldSecret).min(1).max(MOST_SECRETS)
export type SecretList = z.infer<typeof SecretList>

export class TooManySecrets extends Error {
  override readonly name = 'TooManySecrets'
  constructor() {
    super('Too many secrets are in force: wait until one expires, or rotate without an overlap')
  }
}

/** Milliseconds since the epoch for `now`, here and below. */
export function firstSecret(secret: string, now: number): SecretList {
  return [{ secret, createdAt: new Date(now).toISOString() }]
}

/** With no overlap the others end at once. */
export function rotateSecret(
  list: SecretList,
  secret: string,
  { now, overlapSeconds }: { now: number; overlapSeconds: number },
): SecretList {
  const end = Math.floor(now / 1000) + overlapSeconds
  const kept = inForce(list, now)
    .filter((held) => held.secret !== secret)
    .map((held) => ({ ...held, expiresAt: Math.min(held.expiresAt ?? end, end) }))
  const rotated = [...firstSecret(secret, now), ...inForce(kept, now)]
  if (rotated.length > MOST_SECRETS || isTooLong(rotated)) throw new TooManySecrets()
  return rotated
}

/** The secrets to verify and to sign with, the newest first. */
export function activeSecrets(list: SecretList, now: number): string[] {
  return inForce(list, now).map(({ secret }) => secret)
}

/** For sealing. Throws rather than make what `unpackSecrets` would not read. */
export function packSecrets(list: SecretList): string {
  if (!SecretList.safeParse(list).success) throw new TypeError('This is not a list of secrets')
  return JSON.stringify(list)
}

/** Throws without naming anything of the text if it is no list of secrets. */
export function unpackSecrets(text: string): SecretList {
  try {
    return SecretList.parse(JSON.parse(text))
  } catch {
    throw new TypeError('This is not a list of secrets')
  }
}

function inForce(list: SecretList, now: number): SecretList {
  return list.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now / 1000)
}

function isTooLong(list: SecretList): boolean {
  return Buffer.byteLength(JSON.stringify(list)) > LONGEST_JSON
}
