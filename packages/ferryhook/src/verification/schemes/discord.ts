/** Discord: Ed25519 over time and body; the secret of the source is the public key. */
import { type KeyObject, verify as verifySigned } from 'node:crypto'
import * as z from 'zod'
import { decode, ed25519Key } from '../crypto.ts'
import {
  defineScheme,
  checkAge,
  invalid,
  parseTimestamp,
  tolerance,
  DEFAULT_TOLERANCE_SECONDS,
} from '../scheme.ts'
import { headerOf } from '../signed-request.ts'

export const discord = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('discord'),
    toleranceSeconds: tolerance.default(DEFAULT_TOLERANCE_SECONDS),
  }),

  secretProblem: (secret) =>
    publicKey(secret)
      ? undefined
      : 'Enter the public key of the application: 64 hexadecimal digits, from its general information',

  verify({ request, secrets, now }, { toleranceSeconds }) {
    const header = headerOf(request, 'x-signature-ed25519')
    const time = headerOf(request, 'x-signature-timestamp')
    if (header === undefined || time === undefined) return invalid('missing_header')
    const signedAt = parseTimestamp(time)
    const claimed = decode('hex', header)
    if (signedAt === undefined || claimed === undefined) return invalid('malformed_header')
    const keys = secrets.map(publicKey).filter((key) => key !== undefined)
    if (keys.length === 0) return invalid('no_secret')
    const signed = Buffer.concat([Buffer.from(time), request.body])
    return keys.some((key) => verifySigned(null, signed, key, claimed))
      ? checkAge(signedAt, now, toleranceSeconds)
      : invalid('no_match')
  },
})

function publicKey(secret: string): KeyObject | undefined {
  const bytes = decode('hex', secret)
  return bytes && ed25519Key(bytes)
}
