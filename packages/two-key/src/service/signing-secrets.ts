/**
 * The signing secrets of an app that are in force, the newest first: JSON that is sealed before it
 * is stored. A rotation puts a new one in front; the others stay valid for the overlap, in which
 * the secret is changed at Slack.
 */
import * as z from 'zod'

const SigningSecrets = z
  .array(
    z.strictObject({
      secret: z.string().min(1).max(256),
      /** Seconds since the epoch, here and below. */
      createdAt: z.number().int(),
      /** The end of an overlap; the newest has none. */
      expiresAt: z.number().int().optional(),
    }),
  )
  .min(1)
export type SigningSecrets = z.infer<typeof SigningSecrets>

const MOST = 5

export class TooManySecrets extends Error {
  override readonly name = 'TooManySecrets'
}

export function firstSecret(secret: string, now: number): SigningSecrets {
  return [{ secret, createdAt: now }]
}

/** With no overlap the others end at once. */
export function rotated(
  secrets: SigningSecrets,
  secret: string,
  { now, overlapSeconds }: { now: number; overlapSeconds: number },
): SigningSecrets {
  const end = now + overlapSeconds
  const kept = secrets
    .filter((held) => held.secret !== secret)
    .map((held) => ({ ...held, expiresAt: Math.min(held.expiresAt ?? end, end) }))
  const all = [...firstSecret(secret, now), ...inForce(kept, now)]
  if (all.length > MOST) throw new TooManySecrets()
  return all
}

export function inForce(secrets: SigningSecrets, now: number): SigningSecrets {
  return secrets.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now)
}

export function packed(secrets: SigningSecrets): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(secrets))
}

/** Throws without naming anything of the text. */
export function unpacked(bytes: Uint8Array): SigningSecrets {
  try {
    return SigningSecrets.parse(JSON.parse(Buffer.from(bytes).toString()))
  } catch {
    throw new TypeError('This is not a list of signing secrets')
  }
}
