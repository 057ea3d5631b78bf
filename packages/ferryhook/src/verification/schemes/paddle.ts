/** Paddle: `Paddle-Signature: ts=…;h1=…`, with one h1 for each secret while a secret is rotated. */
import * as z from 'zod'
import { hasMatch, decodeAny, hmac } from '../crypto.ts'
import { defineScheme, checkAge, invalid, parseTimestamp, tolerance } from '../scheme.ts'
import { parseFields, headerOf } from '../signed-request.ts'

export const paddle = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('paddle'),
    // The default of Paddle's own libraries.
    toleranceSeconds: tolerance.default(5),
  }),

  verify({ request, secrets, now }, { toleranceSeconds }) {
    const header = headerOf(request, 'paddle-signature')
    if (header === undefined) return invalid('missing_header')
    const fields = parseFields(header, ';')
    const [time = '', ...otherTimes] = fields('ts')
    const signedAt = parseTimestamp(time)
    const claimed = decodeAny('hex', fields('h1'))
    if (signedAt === undefined || otherTimes.length > 0 || claimed === undefined) {
      return invalid('malformed_header')
    }
    const expected = secrets.map((secret) => hmac('sha256', secret, `${time}:`, request.body))
    return hasMatch(claimed, expected)
      ? checkAge(signedAt, now, toleranceSeconds)
      : invalid('no_match')
  },
})
