/** SendGrid: ECDSA over time and body, with a key of which we have the public half. */
import { verify as verifySigned } from 'node:crypto'
import * as z from 'zod'
import { decode } from '../digests.ts'
import { p256Key } from '../public-keys.ts'
import { defineScheme } from '../scheme.ts'
import { headerOf } from '../signed-request.ts'
import { judgeAge, timeOf, tolerance, usualTolerance } from '../timestamp.ts'
import { refused } from '../verdict.ts'

export const sendgrid = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('sendgrid'),
    toleranceSeconds: tolerance.default(usualTolerance),
  }),

  secretProblem: (secret) =>
    p256Key(secret)
      ? undefined
      : 'Give the verification key of the event webhook: a P-256 public key in base64 or PEM',

  verify({ request, secrets, now }, { toleranceSeconds }) {
    const header = headerOf(request, 'x-twilio-email-event-webhook-signature')
    const time = headerOf(request, 'x-twilio-email-event-webhook-timestamp')
    if (header === undefined || time === undefined) return refused('missing_header')
    const signedAt = timeOf(time)
    const claimed = decode('base64', header)
    if (signedAt === undefined || claimed === undefined) {
      return refused('malformed_header')
    }
    const keys = secrets.map(p256Key).filter((key) => key !== undefined)
    if (keys.length === 0) return refused('no_secret')
    const signed = Buffer.concat([Buffer.from(time), request.body])
    return keys.some((key) => verifySigned('sha256', signed, key, claimed))
      ? judgeAge(signedAt, now, toleranceSeconds)
      : refused('no_match')
  },
})
