/** SendGrid: ECDSA over time and body; the secret of the source is the public key. */
import { verify as verifySigned } from 'node:crypto'
import * as z from 'zod'
import { decode, p256Key } from '../crypto.ts'
import {
  defineScheme,
  checkAge,
  invalid,
  parseTimestamp,
  tolerance,
  DEFAULT_TOLERANCE_SECONDS,
} from '../scheme.ts'
import { headerOf } from '../signed-request.ts'

export const sendgrid = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('sendgrid'),
    toleranceSeconds: tolerance.default(DEFAULT_TOLERANCE_SECONDS),
  }),

  secretProblem: (secret) =>
    p256Key(secret)
      ? undefined
      : 'Enter the verification key of the event webhook: a P-256 public key in base64 or PEM',

  verify({ request, secrets, now }, { toleranceSeconds }) {
    const header = headerOf(request, 'x-twilio-email-event-webhook-signature')
    const time = headerOf(request, 'x-twilio-email-event-webhook-timestamp')
    if (header === undefined || time === undefined) return invalid('missing_header')
    const signedAt = parseTimestamp(time)
    const claimed = decode('base64', header)
    if (signedAt === undefined || claimed === undefined) {
      return invalid('malformed_header')
    }
    const keys = secrets.map(p256Key).filter((key) => key !== undefined)
    if (keys.length === 0) return invalid('no_secret')
    const signed = Buffer.concat([Buffer.from(time), request.body])
    return keys.some((key) => verifySigned('sha256', signed, key, claimed))
      ? checkAge(signedAt, now, toleranceSeconds)
      : invalid('no_match')
  },
})
