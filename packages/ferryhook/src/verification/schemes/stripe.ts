/** Stripe: `Stripe-Signature: t=…,v1=…`, with one v1 for each secret while a secret is rotated. */
import * as z from 'zod'
import { anyMatch, decodeAny, hmac } from '../digests.ts'
import { fieldsOf } from '../header-fields.ts'
import { defineScheme } from '../scheme.ts'
import { headerOf } from '../signed-request.ts'
import { judgeAge, timeOf, tolerance, usualTolerance } from '../timestamp.ts'
import { refused } from '../verdict.ts'

export const stripe = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('stripe'),
    toleranceSeconds: tolerance.default(usualTolerance),
  }),

  secretProblem: (secret) =>
    /^whsec_./.test(secret)
      ? undefined
      : 'Give the signing secret of the endpoint, which begins with whsec_, not an API key',

  verify({ request, secrets, now }, { toleranceSeconds }) {
    const header = headerOf(request, 'stripe-signature')
    if (header === undefined) return refused('missing_header')
    const fields = fieldsOf(header, ',')
    const [time = '', ...otherTimes] = fields('t')
    const signedAt = timeOf(time)
    const claimed = decodeAny('hex', fields('v1'))
    if (signedAt === undefined || otherTimes.length > 0 || claimed === undefined) {
      return refused('malformed_header')
    }
    // The key is the secret as it is written: unlike elsewhere, what follows whsec_ is not decoded.
    const expected = secrets.map((secret) => hmac('sha256', secret, `${time}.`, request.body))
    return anyMatch(claimed, expected)
      ? judgeAge(signedAt, now, toleranceSeconds)
      : refused('no_match')
  },
})
