/** Paddle: `Paddle-Signature: ts=…;h1=…`, with one h1 for each secret while a secret is rotated. */
import * as z from 'zod'
import { anyMatch, decodeAny, hmac } from '../digests.ts'
import { fieldsOf } from '../header-fields.ts'
import { defineScheme } from '../scheme.ts'
import { headerOf } from '../signed-request.ts'
import { judgeAge, timeOf, tolerance } from '../timestamp.ts'
import { refused } from '../verdict.ts'

export const paddle = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('paddle'),
    // As short as Paddle's own libraries have it.
    toleranceSeconds: tolerance.default(5),
  }),

  verify({ request, secrets, now }, { toleranceSeconds }) {
    const header = headerOf(request, 'paddle-signature')
    if (header === undefined) return refused('missing_header')
    const fields = fieldsOf(header, ';')
    const [time = '', ...otherTimes] = fields('ts')
    const signedAt = timeOf(time)
    const claimed = decodeAny('hex', fields('h1'))
    if (signedAt === undefined || otherTimes.length > 0 || claimed === undefined) {
      return refused('malformed_header')
    }
    const expected = secrets.map((secret) => hmac('sha256', secret, `${time}:`, request.body))
    return anyMatch(claimed, expected)
      ? judgeAge(signedAt, now, toleranceSeconds)
      : refused('no_match')
  },
})
