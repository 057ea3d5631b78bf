/** Stripe: `Stripe-Signature: t=…,v1=…`, with one v1 for each secret while a secret is rotated. */
import * as z from 'zod'
import { hasMatch, decodeAny, hmac } from '../crypto.ts'
import {
  defineScheme,
  checkAge,
  invalid,
  parseTimestamp,
  tolerance,
  DEFAULT_TOLERANCE_SECONDS,
} from '../scheme.ts'
import { parseFields, headerOf } from '../signed-request.ts'

export const stripe = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('stripe'),
    toleranceSeconds: tolerance.default(DEFAULT_TOLERANCE_SECONDS),
  }),

  secretProblem: (secret) =>
    /^whsec_./.test(secret)
      ? undefined
      : 'Enter the signing secret of the endpoint, which starts with whsec_, not an API key',

  verify({ request, secrets, now }, { toleranceSeconds }) {
    const header = headerOf(request, 'stripe-signature')
    if (header === undefined) return invalid('missing_header')
    const fields = parseFields(header, ',')
    const [time = '', ...otherTimes] = fields('t')
    const signedAt = parseTimestamp(time)
    const claimed = decodeAny('hex', fields('v1'))
    if (signedAt === undefined || otherTimes.length > 0 || claimed === undefined) {
      return invalid('malformed_header')
    }
    // The key is the secret as text: unlike elsewhere, the part after whsec_ is not decoded.
    const expected = secrets.map((secret) => hmac('sha256', secret, `${time}.`, request.body))
    return hasMatch(claimed, expected)
      ? checkAge(signedAt, now, toleranceSeconds)
      : invalid('no_match')
  },
})
