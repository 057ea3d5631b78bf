/**
 * The signing secrets of an app, the newest first: JSON that is encrypted before it is stored. After a
 * rotation the older ones remain valid for an overlap, in which the secret is changed at Slack.
 */
import * as z from 'zod'

const SigningSecrets = z
  .array(
    z.strictObject({
      secret: z.string().min(1).max(256),
      /** Seconds since the epoch, here and below. */
      createdAt: z.number().int(),
      /** The end of the overlap; the newest secret has none. */
      expiresAt: z.number().int().optional(),
    }),
  )
  .min(1)
export type SigningSecrets = z.infer<typeof SigningSecrets>

const MAX_SECRETS = 5

export function createSecretList(secret: string, now: number): SigningSecrets {
  return [{ secret, createdAt: now }]
}

/** Without an overlap the other secrets expire now. */
export function rotateSecrets(
  secrets: SigningSecrets,
  secret: string,
  { now, overlapSeconds }: { now: number; overlapSeconds: number },
): SigningSecrets | 'too_many' {
  const end = now + overlapSeconds
  const older = secrets
    .filter((each) => each.secret !== secret)
    .map((each) => ({ ...each, expiresAt: Math.min(each.expiresAt ?? end, end) }))
  const all = [...createSecretList(secret, now), ...activeSecrets(older, now)]
  return all.length > MAX_SECRETS ? 'too_many' : all
}

export function activeSecrets(secrets: SigningSecrets, now: number): SigningSecrets {
  return secrets.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now)
}

export function serializeSecrets(secrets: SigningSecrets): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(secrets))
}

/** Its error never contains any of the text. */
export function parseSecrets(bytes: Uint8Array): SigningSecrets {
  try {
    return SigningSecrets.parse(JSON.parse(Buffer.from(bytes).toString()))
  } catch {
    throw new TypeError('The stored signing secrets are malformed.')
  }
}
